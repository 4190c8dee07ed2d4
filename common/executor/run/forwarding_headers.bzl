"""Headers of Thrust and CUB: each name that programs include leads to one header of ours."""

_THRUST = [
    "adjacent_difference",
    "binary_search",
    "copy",
    "count",
    "device_free",
    "device_malloc",
    "device_ptr",
    "device_vector",
    "equal",
    "execution_policy",
    "extrema",
    "fill",
    "find",
    "for_each",
    "functional",
    "gather",
    "generate",
    "host_vector",
    "inner_product",
    "iterator/constant_iterator",
    "iterator/counting_iterator",
    "iterator/transform_iterator",
    "iterator/zip_iterator",
    "logical",
    "merge",
    "pair",
    "partition",
    "random",
    "random/linear_congruential_engine",
    "random/uniform_int_distribution",
    "random/uniform_real_distribution",
    "reduce",
    "remove",
    "replace",
    "scan",
    "scatter",
    "sequence",
    "sort",
    "system/cuda/execution_policy",
    "tabulate",
    "transform",
    "transform_reduce",
    "transform_scan",
    "tuple",
    "unique",
]

_CUB = [
    "cub",
    "block/block_reduce",
    "block/block_scan",
    "block/block_load",
    "block/block_store",
    "warp/warp_reduce",
    "warp/warp_scan",
    "device/device_reduce",
    "device/device_scan",
    "device/device_radix_sort",
]

def _forward(name, headers, to):
    """Writes each of include/HEADERS, which includes `to`, a header of the first folder's."""
    native.genrule(
        name = name,
        outs = ["include/" + header for header in headers],
        cmd = "for file in $(OUTS); do below=$${file#*/run/include/*/}; folders=$${below//[^\\/]/}; " +
              "echo '#include \"'$${folders//\\//../}'%s\"' > $$file; done" % to,
    )

def forwarding_headers(name):
    """A filegroup of all of them."""
    _forward("thrust_headers", ["thrust/%s.h" % header for header in _THRUST], "simt_algorithms.h")
    _forward("cub_headers", ["cub/%s.cuh" % header for header in _CUB], "simt_device.h")
    native.filegroup(
        name = name,
        srcs = [
            ":cub_headers",
            ":thrust_headers",
        ],
    )
