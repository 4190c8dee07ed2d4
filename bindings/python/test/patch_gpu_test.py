"""PyTorch with stridewise.torch.patch() on a GPU: which calls become ours, and that programs compute what they did."""

import unittest

import stridewise

try:
  import stridewise.torch
  import torch
except ImportError:
  torch = None

_HAS_GPU = torch is not None and torch.cuda.is_available()


@unittest.skipUnless(_HAS_GPU, "needs PyTorch and a GPU")
class PatchTest(unittest.TestCase):

  def setUp(self):
    import stridewise.torch._patch as implementation

    # Counts our calls.
    self.calls = calls = []
    core = implementation._core

    class Counting:

      def __getattr__(self, name):

        def call(*args, **kwargs):
          calls.append(name)
          return getattr(core, name)(*args, **kwargs)

        return call

    implementation._core = Counting()
    self.addCleanup(setattr, implementation, "_core", core)

  def ours(self):
    """Returns the number of our calls since the last one."""
    count = sum(name.endswith("_kernel") for name in self.calls)
    self.calls.clear()
    return count

  def test_routes_what_is_eligible(self):
    x = torch.randn(1024, 2048, device="cuda")
    pictures = torch.randn(8, 64, 56, 56, device="cuda").half()
    a = torch.randn(1024, 1024, device="cuda")
    batch = torch.randn(4, 512, 512, device="cuda")
    linear = torch.nn.Linear(1024, 1024, device="cuda")
    out = torch.empty(1024, 1024, device="cuda")
    heads = pictures.view(8, 64, 8, 392)
    calls = {
      "t": lambda: x.t().contiguous(),
      "transpose": lambda: batch.transpose(-1, -2).contiguous(),
      "permute": lambda: heads.permute(0, 2, 1, 3).contiguous(),
      "reshape": lambda: heads.permute(0, 2, 1, 3).reshape(8, 8, -1),
      "channels_last": lambda: pictures.contiguous(memory_format=torch.channels_last),
      "mm": lambda: torch.mm(a, a.t()),
      "mm out": lambda: torch.mm(a, a, out=out),
      "@": lambda: a @ a,
      "bmm": lambda: torch.bmm(batch, batch),
      "linear": lambda: linear(a),
    }
    expected = {name: call() for name, call in calls.items()}
    with stridewise.torch.patch():
      for name, call in calls.items():
        with self.subTest(name=name):
          result = call()
          self.assertEqual(self.ours(), 1)
          self.assertEqual(result.stride(), expected[name].stride())
          if name in ("t", "transpose", "permute", "reshape", "channels_last"):
            self.assertTrue(torch.equal(result, expected[name]))
          else:
            torch.testing.assert_close(result, expected[name], atol=1e-3, rtol=1e-3)
    for call in calls.values():
      call()
    self.assertEqual(self.ours(), 0)

  def test_passes_on_what_is_not(self):
    x = torch.randn(100, 100, device="cuda")
    a = torch.randn(1024, 1024, device="cuda")
    with stridewise.torch.patch():
      for call in (lambda: x.t().contiguous(), lambda: a.clone(), lambda: a[0].expand(1024, 1024).contiguous(), lambda: x @ x,
                   lambda: a.half() @ a.half(), lambda: a.cpu().t().contiguous(), lambda: a.double() @ a.double()):
        call()
      torch.backends.cuda.matmul.allow_tf32 = True
      try:
        a @ a
      finally:
        torch.backends.cuda.matmul.allow_tf32 = False
    self.assertEqual(self.ours(), 0)

  def test_trains_as_without(self):

    def losses():
      torch.manual_seed(1)
      model = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024)).cuda()
      optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
      x = torch.randn(1024, 1024, device="cuda")
      result = []
      for _ in range(5):
        loss = (model(x).t().contiguous() - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        result.append(loss.item())
      return result

    expected = losses()
    with stridewise.torch.patch():
      ours = losses()
    self.assertGreater(self.ours(), 25)  # Also in the backward passes.
    for x, y in zip(ours, expected):
      self.assertAlmostEqual(x, y, delta=1e-5 * abs(y))

  def test_ends_with_its_last_user(self):
    x = torch.randn(1024, 2048, device="cuda")
    first, second = stridewise.torch.patch(), stridewise.torch.patch()
    first.undo()
    first.undo()
    x.t().contiguous()
    self.assertEqual(self.ours(), 1)
    second.undo()
    x.t().contiguous()
    self.assertEqual(self.ours(), 0)


if __name__ == "__main__":
  unittest.main()
