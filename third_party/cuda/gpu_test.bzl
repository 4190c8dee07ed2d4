"""gpu_test: a cc_test that runs on a GPU, and is skipped, saying so, on a machine without one."""

load("@rules_cc//cc:defs.bzl", "cc_test")
load(":device_code.bzl", "needs_device_code")

def gpu_test(name, deps, tags = [], **kwargs):
    """A GoogleTest of device code.

    It is built where device code is. Each of its tests calls GTEST_SKIP() where there is no GPU. A skip would be cached as a pass, and so hide that
    nothing ran once there is a GPU: the tag `external` runs the test every time. List it in //:gpu_bundle too.

    Args:
      name: Name of the target.
      deps: What it tests; GoogleTest is added.
      tags: More tags.
      **kwargs: As of cc_test.
    """
    cc_test(
        name = name,
        size = kwargs.pop("size", "medium"),
        tags = tags + ["external", "requires-gpu"],
        target_compatible_with = needs_device_code(),
        deps = deps + ["@com_google_googletest//:gtest_main"],
        **kwargs
    )
