"""Finds the CUDA toolkit and a GPU, and writes @local_config_cuda.

The toolkit is $CUDA_PATH, or else /usr/local/cuda. Without one the repository still loads: targets that need CUDA are
skipped, and `if_cuda` leaves CUDA out of those that can do without. //third_party/cuda:device_code says what depends on
the GPU, and //third_party/cuda:archs which GPUs are compiled for.
"""

load(":gpu_archs.bzl", "gpu_archs")

_BUILD = """\
load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

# No platform has this constraint: naming it in target_compatible_with skips the target.
constraint_setting(name = "toolkit")

constraint_value(
    name = "toolkit_found",
    constraint_setting = ":toolkit",
)

cc_library(
    name = "headers",
    hdrs = glob(
        ["include/**"],
        allow_empty = True,
        exclude = ["include/cudnn*", "include/nccl*"],
    ),
    includes = ["include"],
    target_compatible_with = {requires},
)

# CUPTI's headers lie beside the others or in a folder of their own.
cc_library(
    name = "cupti_headers",
    hdrs = glob(
        ["cupti/**"],
        allow_empty = True,
    ),
    includes = ["cupti"],
    target_compatible_with = {requires},
    deps = [":headers"],
)

cc_library(
    name = "cudart",
    linkopts = ["{lib}/libcudart_static.a", "-ldl", "-lpthread", "-lrt"],
    deps = [":headers"],
)

cc_library(
    name = "cublas",
    linkopts = ["-Wl,-rpath,{lib}", "{lib}/{cublas}"],
    deps = [":cudart"],
)

cc_library(
    name = "cublas_lt",
    linkopts = ["-Wl,-rpath,{lib}", "{lib}/{cublas_lt}"],
    deps = [":cudart"],
)
"""

_DEFS = '''\
"""Written by cuda_configure."""

NVCC = {nvcc}
CUDA_FOUND = {found}
CUPTI_FOUND = {cupti_found}  # Its range profiler.
GPU_FOUND = {gpu_found}
GPU_ARCHS = {gpu_archs}

def if_cuda(with_cuda, without_cuda = []):
    """Returns `with_cuda` where there is a CUDA toolkit, and `without_cuda` elsewhere."""
    return with_cuda if CUDA_FOUND else without_cuda

def if_cupti(with_cupti, without_cupti = []):
    """Returns `with_cupti` where the toolkit has CUPTI's range profiler, and `without_cupti` elsewhere."""
    return with_cupti if CUPTI_FOUND else without_cupti
'''

# What a driver leaves on Linux, in containers and in WSL.
_SIGNS_OF_A_GPU = ["/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg"]

# WSL's is not on the path of every user.
_NVIDIA_SMI_OF_WSL = "/usr/lib/wsl/lib/nvidia-smi"

def _compute_capabilities(ctx):
    """Returns a line for each GPU, and nothing where there is none."""
    nvidia_smi = ctx.which("nvidia-smi") or ctx.path(_NVIDIA_SMI_OF_WSL)
    if not nvidia_smi.exists:
        return ""
    result = ctx.execute([nvidia_smi, "--query-gpu=compute_cap", "--format=csv,noheader"], timeout = 60)
    return result.stdout if result.return_code == 0 else ""

def _cuda_configure_impl(ctx):
    toolkit = ctx.os.environ.get("CUDA_PATH", "/usr/local/cuda")
    found = ctx.path(toolkit + "/bin/nvcc").exists
    if found:
        ctx.symlink(toolkit + "/include", "include")

    header = "cupti_range_profiler.h"
    own_folder = toolkit + "/extras/CUPTI/include"
    cupti_found = found and ctx.path(toolkit + "/include/" + header).exists
    if found and not cupti_found and ctx.path(own_folder + "/" + header).exists:
        ctx.symlink(own_folder, "cupti")
        cupti_found = True

    # NVIDIA's installers say lib64, its wheels lib; the wheels have no library's name without a version.
    lib = toolkit + ("/lib64" if ctx.path(toolkit + "/lib64").exists else "/lib")
    libraries = {}
    for name in ["cublas", "cublasLt"]:
        library = "lib" + name + ".so"
        if found and not ctx.path(lib + "/" + library).exists:
            versioned = [f.basename for f in ctx.path(lib).readdir() if f.basename.startswith(library + ".")]
            library = versioned[0] if versioned else library
        libraries[name] = library
    ctx.file("BUILD", _BUILD.format(
        lib = lib,
        cublas = libraries["cublas"],
        cublas_lt = libraries["cublasLt"],
        requires = [] if found else [":toolkit_found"],
    ))
    ctx.file("defs.bzl", _DEFS.format(
        nvcc = repr(toolkit + "/bin/nvcc"),
        found = found,
        cupti_found = cupti_found,
        gpu_found = any([ctx.path(sign).exists for sign in _SIGNS_OF_A_GPU]),
        gpu_archs = gpu_archs(_compute_capabilities(ctx)),
    ))

cuda_configure = repository_rule(
    implementation = _cuda_configure_impl,
    configure = True,
    environ = ["CUDA_PATH"],
    local = True,
)
