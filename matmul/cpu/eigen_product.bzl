"""eigen_product: eigen_product.cc compiled for one instruction set."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def eigen_product(name, function, copts):
    """Compiles eigen_product.cc into `function`, with Eigen in a namespace named after the target.

    Args:
      name: Name of the target.
      function: Name of the function, declared in eigen_product.h.
      copts: Options that choose the instruction set.
    """
    cc_library(
        name = name,
        srcs = [
            "eigen_product.cc",
            "eigen_product.h",
        ],
        # -O3 in every mode: Eigen without inlining is hundreds of times slower, and templates of the standard library
        # that were not inlined would be merged across instruction sets. GCC warns of Eigen's own intrinsics.
        copts = copts + [
            "-O3",
            "-DNDEBUG",
            "-fopenmp",
            "-Wno-uninitialized",
        ],
        linkopts = [
            "-l:libgomp.a",
            "-lpthread",
            "-ldl",
        ],
        local_defines = [
            "Eigen=" + name.replace("eigen", "Eigen"),
            "STRIDEWISE_EIGEN_FUNCTION=" + function,
        ],
        visibility = ["//visibility:private"],
        deps = [
            "//matmul:contract",
            "@eigen",
        ],
    )
