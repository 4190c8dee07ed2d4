"""Finds Clang and binutils and writes @local_config_clang.

Without them the repository still loads: only targets that need them fail, and say what to install.
"""

_DEFS = '''\
"""Written by clang_configure."""

CLANGXX = {clangxx}
NM = {nm}
OBJCOPY = {objcopy}

def require_clang(target):
    """Fails where a tool is missing."""
    if {missing}:
        fail("%s needs {missing_text}: install Debian's clang and binutils (./bazelw does)" % target)
'''

def _clang_configure_impl(ctx):
    tools = {tool: ctx.which(tool) for tool in ["clang++", "nm", "objcopy"]}
    missing = [tool for tool, path in tools.items() if not path]
    ctx.file("BUILD")
    ctx.file("defs.bzl", _DEFS.format(
        clangxx = repr(str(tools["clang++"])),
        missing = repr(missing),
        missing_text = " and ".join(missing),
        nm = repr(str(tools["nm"])),
        objcopy = repr(str(tools["objcopy"])),
    ))

clang_configure = repository_rule(
    implementation = _clang_configure_impl,
    configure = True,
    environ = ["PATH"],
    local = True,
)
