"""C++ libraries that the distribution installs, found through pkg-config where they have a file for it."""

_BUILD = """\
load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])
"""

_LIBRARY = """
cc_library(
    name = "{name}",
    hdrs = glob(["include*/**"], allow_empty = True),
    includes = {includes},
    linkopts = {linkopts},
)
"""

def _pkg_config(ctx, flag, module):
    result = ctx.execute(["pkg-config", "--static", flag, module])
    if result.return_code:
        fail("%s: install %s (./bazelw does). %s" % (ctx.name, ctx.attr.debian_package, result.stderr))
    return [word for word in result.stdout.strip().split(" ") if word]

def _prefer_archive(ctx, libdir, flag):
    """Links lib<name>.a where the package has one: the binary then runs without the package."""
    archive = "lib%s.a" % flag[len("-l"):]
    if flag.startswith(("-labsl_", "-lgtest", "-lgmock")) and ctx.path(libdir + "/" + archive).exists:
        return "-l:" + archive
    return flag

def _system_library_impl(ctx):
    # /usr/include is searched anyway; other directories become include0/ and so on.
    includes = []
    for flag in _pkg_config(ctx, "--cflags-only-I", ctx.attr.targets.values()[0]):
        includes.append("include%d" % len(includes))
        ctx.symlink(flag[len("-I"):], includes[-1])

    builds = {}
    for label, module in ctx.attr.targets.items():
        libdir = "".join(_pkg_config(ctx, "--variable=libdir", module))
        package, _, name = label.rpartition(":")
        builds.setdefault(package, [_BUILD]).append(_LIBRARY.format(
            name = name,
            includes = includes,
            linkopts = [] if ctx.attr.headers_only else [
                _prefer_archive(ctx, libdir, flag)
                for flag in _pkg_config(ctx, "--libs", module)
            ],
        ))
    for package, rules in builds.items():
        ctx.file((package + "/BUILD").lstrip("/"), "".join(rules))

system_library = repository_rule(
    implementation = _system_library_impl,
    attrs = {
        "debian_package": attr.string(mandatory = True),
        "headers_only": attr.bool(doc = "Whether to link nothing: what is used is in headers."),
        "targets": attr.string_dict(
            mandatory = True,
            doc = "From the label that the library has upstream to its pkg-config module.",
        ),
    },
    configure = True,
    local = True,
)

def _boost_impl(ctx):
    # Boost comes without pkg-config files. Its headers are in /usr/include, which is searched anyway.
    if not ctx.path("/usr/include/boost/context/fiber.hpp").exists:
        fail("%s: install libboost-context-dev (./bazelw does)" % ctx.name)
    ctx.file("BUILD", _BUILD + _LIBRARY.format(
        name = "context",
        includes = [],
        linkopts = ["-l:libboost_context.a"],
    ))

_boost = repository_rule(
    implementation = _boost_impl,
    configure = True,
    local = True,
)

def _unless_there(rule, name, **kwargs):
    if not native.existing_rule(name):
        rule(name = name, **kwargs)

def system_libraries():
    """Defines the libraries of Debian 12 under the labels that they have upstream, unless the workspace has them."""
    _unless_there(
        system_library,
        name = "com_google_absl",
        debian_package = "libabsl-dev",
        targets = {
            "absl/cleanup:cleanup": "absl_cleanup",
            "absl/flags:flag": "absl_flags",
            "absl/flags:parse": "absl_flags_parse",
            "absl/flags:reflection": "absl_flags_reflection",
            "absl/flags:usage": "absl_flags_usage",
            "absl/functional:function_ref": "absl_function_ref",
            "absl/status:status": "absl_status",
            "absl/status:statusor": "absl_statusor",
            "absl/strings:str_format": "absl_str_format",
            "absl/strings:strings": "absl_strings",
            "absl/time:time": "absl_time",
            "absl/types:span": "absl_span",
        },
    )
    _unless_there(
        system_library,
        name = "com_google_googletest",
        debian_package = "libgtest-dev",
        targets = {
            ":gtest": "gtest",
            ":gtest_main": "gtest_main",
        },
    )
    _unless_there(
        system_library,
        name = "eigen",
        debian_package = "libeigen3-dev",
        targets = {":eigen": "eigen3"},
    )
    _unless_there(
        system_library,
<<<<<<< ours
        name = "highway",
        debian_package = "libhwy-dev",
        targets = {":hwy": "libhwy"},
        headers_only = True,
=======
        name = "python_headers",
        debian_package = "libpython3-dev",
        targets = {":headers": "python3"},
>>>>>>> theirs
    )
    _unless_there(_boost, name = "boost")
