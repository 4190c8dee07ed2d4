"""Whether the main workspace is Stridewise's own; stridewise_repositories() writes another answer elsewhere."""

IS_HOME = True
