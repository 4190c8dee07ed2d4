"""compile: a compilation that depends on those headers alone that it read."""

def compile(ctx, compiler, flags, src, object, headers, inputs, mnemonic, message, tools = []):
    """Declares the action that compiles `src` into `object`.

    Args:
      ctx: The rule's context; the rule has the attribute `_compile` (COMPILE_ATTR).
      compiler: A list: nvcc or clang++, or a script and what it needs to become one.
      flags: The command line up to, but without, the source and the object.
      src: The source.
      object: What is made.
      headers: The headers that it may include, a list. Changes of those of this workspace that it does not are ignored.
      inputs: What else is read, a depset.
      mnemonic: As of ctx.actions.run.
      message: Its progress_message.
      tools: What of `compiler` is built.
    """
    offered = ctx.actions.declare_file(object.basename + ".offered", sibling = object)
    unused = ctx.actions.declare_file(object.basename + ".unused", sibling = object)
    ours = [header.path + "\n" for header in headers if header.owner.workspace_root == ctx.label.workspace_root]
    ctx.actions.write(offered, "".join(ours))
    ctx.actions.run(
        executable = ctx.executable._compile,
        arguments = [unused.path, offered.path] + compiler + [flags, "-c", src.path, "-o", object.path],
        env = {"PATH": "/usr/bin:/bin"},
        inputs = depset([src, offered] + headers, transitive = [inputs]),
        tools = tools,
        outputs = [object, unused],
        unused_inputs_list = unused,
        mnemonic = mnemonic,
        progress_message = message,
    )

COMPILE_ATTR = attr.label(
    allow_single_file = True,
    cfg = "exec",
    default = "//third_party:compile.sh",
    executable = True,
)
