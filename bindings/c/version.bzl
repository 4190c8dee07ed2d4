"""The version of what //:dist makes; bindings/c/stridewise.h has the same, which a test checks."""

VERSION = "0.1.0"

# Programs that were linked with one library run with another of the same number.
SO_VERSION = VERSION.split(".")[0]
