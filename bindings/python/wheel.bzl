"""wheel: a Python package as pip installs it; zip_test: a Python program in one file that is a test."""

def _wheel_impl(ctx):
    pairs = ["%s=%s" % (name, target[DefaultInfo].files.to_list()[0].path) for target, name in ctx.attr.files.items()]
    root = ctx.label.package + "/"
    for file in ctx.files.package:
        pairs.append("%s=%s" % (file.short_path[len(root):], file.path))
    ctx.actions.run(
        outputs = [ctx.outputs.out],
        inputs = ctx.files.files + ctx.files.package,
        executable = ctx.executable._make_wheel,
        arguments = ["--out=" + ctx.outputs.out.path] + pairs,
        mnemonic = "Wheel",
    )
    return [DefaultInfo(
        files = depset([ctx.outputs.out]),
        runfiles = ctx.runfiles(files = [ctx.outputs.out]),
    )]

wheel = rule(
    implementation = _wheel_impl,
    attrs = {
        "files": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "Single files, and their names in the wheel.",
        ),
        "out": attr.output(
            doc = "The wheel's file: its name says version and tags.",
            mandatory = True,
        ),
        "package": attr.label(
            doc = "Files of this folder, which keep their paths.",
        ),
        "_make_wheel": attr.label(
            cfg = "host",
            default = ":make_wheel",
            executable = True,
        ),
    },
)

def _zip_test_impl(ctx):
    program = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.run_shell(
        outputs = [program],
        inputs = ctx.files.files + [ctx.file.main],
        command = " && ".join([
            "work=$(mktemp -d)",
            "cp %s $work" % " ".join([file.path for file in ctx.files.files]),
            "cp %s $work/__main__.py" % ctx.file.main.path,
            # The same files make the same bytes.
            "touch -d 1980-01-02 $work/*",
            "/usr/bin/python3 -m zipapp $work --python='/usr/bin/env python3' --output=%s" % program.path,
            "rm -r $work",
        ]),
        mnemonic = "ZipTest",
    )
    return [DefaultInfo(executable = program)]

# The program runs with the first python3 of PATH, which need not be the build's. `main` finds `files` in sys.argv[0], a zip.
zip_test = rule(
    implementation = _zip_test_impl,
    attrs = {
        "files": attr.label_list(allow_files = True),
        "main": attr.label(allow_single_file = True),
    },
    test = True,
)
