"""wheel: a Python package as pip installs it."""

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
