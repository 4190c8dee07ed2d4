"""Which architectures device code is compiled for, unless --cuda_archs says so: those of this machine's GPUs."""

# Without a GPU: what the project is measured on.
DEFAULT_ARCHS = ["90a"]

# wgmma and setmaxnreg are instructions of sm_90a, which sm_90 lacks.
_WITH_LETTER = {"90": "90a"}

def gpu_archs(compute_capabilities):
    """Returns the architectures of what `nvidia-smi --query-gpu=compute_cap --format=csv,noheader` prints.

    Args:
      compute_capabilities: A line for each GPU, "8.6". A line that is none, such as an error's, is left out.

    Returns:
      Their architectures, ["86"], each once and in order. DEFAULT_ARCHS where there is none.
    """
    archs = []
    for line in compute_capabilities.splitlines():
        arch = line.strip().replace(".", "", 1)
        arch = _WITH_LETTER.get(arch, arch)
        if "." in line and arch.replace("a", "").isdigit() and arch not in archs:
            archs.append(arch)
    return sorted(archs) or DEFAULT_ARCHS

def _gpu_archs_test_impl(ctx):
    wrong = [
        "gpu_archs(%s) is %s and not %s" % (repr(printed), gpu_archs(printed), archs)
        for printed, archs in ctx.attr.cases.items()
        if gpu_archs(printed) != archs
    ]
    script = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(script, "#!/bin/sh\ncat <<'end'\n%s\nend\nexit %d\n" % ("\n".join(wrong), len(wrong)), is_executable = True)
    return DefaultInfo(executable = script)

gpu_archs_test = rule(
    implementation = _gpu_archs_test_impl,
    attrs = {"cases": attr.string_list_dict(doc = "What gpu_archs() returns for each output.", mandatory = True)},
    test = True,
)
