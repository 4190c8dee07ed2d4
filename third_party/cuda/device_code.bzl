"""Which targets have device code: a machine without a GPU cannot run it, and compiling it takes most of a build."""

load("@local_config_cuda//:defs.bzl", "CUDA_FOUND", "GPU_FOUND")

_IF_GPU = str(Label("//third_party/cuda:device_code_if_gpu"))
_GPU = str(Label("//third_party/cuda:gpu_for_device_code"))

def if_device_code(with_code, without_code = []):
    """Returns `with_code` where device code is compiled, and `without_code` elsewhere.

    It is compiled where there is a CUDA toolkit, unless --//third_party/cuda:device_code=if_gpu and there is no GPU.

    Args:
      with_code: A list.
      without_code: Another one.
    """
    if not CUDA_FOUND or GPU_FOUND:
        return with_code if CUDA_FOUND else without_code
    return select({
        _IF_GPU: without_code,
        "//conditions:default": with_code,
    })

def needs_device_code():
    """Returns the target_compatible_with of what is of no use without device code that could be compiled.

    It is skipped where `if_device_code` leaves out what the toolkit could compile.
    """
    return [] if GPU_FOUND or not CUDA_FOUND else if_device_code([], [_GPU])
