"""Which comments of a header become documentation, and what becomes of their text."""

import textwrap
import unittest

from docs.doxygen import header_filter


def filtered(text, top="// Top.\n\n"):
  """What becomes of a header that begins with `top`; without the top's lines."""
  result = header_filter.filtered("room/a.h", top + textwrap.dedent(text))
  return "\n".join(result.split("\n")[top.count("\n"):])


class HeaderFilterTest(unittest.TestCase):

  def check(self, text, expected):
    text, expected = textwrap.dedent(text), textwrap.dedent(expected)
    self.assertEqual(filtered(text), expected)
    self.assertEqual(text.count("\n"), expected.count("\n"))

  def test_the_comment_at_the_top_is_the_files(self):
    self.assertEqual(header_filter.filtered("room/a.h", "// One.\n// Two.\n\n#ifndef A_H_\n"),
                     "/// @file room/a.h\n/// One.\n/// Two.\n#ifndef A_H_\n")
    self.assertEqual(header_filter.filtered("room/a.h", "#ifndef A_H_\n// One.\nint f();\n"),
                     "#ifndef A_H_\n/// One.\nint f();\n")
    self.assertEqual(header_filter.filtered("room/a.h", "// One.\nint f();\n"), "/// One.\nint f();\n")

  def test_a_comment_documents_the_declaration_below_it(self):
    for declaration in ("int f(int x);", "inline constexpr int kOne = 1;", "template <typename T>\nvoid f();", "~A();",
                        "class A {\n};", "enum class E { kA };", "using A = int;", "#define MACRO(x) x",
                        "[[nodiscard]] int f();", "::std::string f();"):
      with self.subTest(declaration):
        self.check(f"// Text.\n// More.\n{declaration}\n", f"/// Text.\n/// More.\n{declaration}\n")

  def test_other_comments_stay(self):
    for text in (
        "// A section.\n\nint f();\n",
        "namespace a {\n}  // namespace a\n",
        "#endif  // A_H_\n",
        "// Of a branch.\n#ifdef X\nint f();\n#endif\n",
        "// NOLINTNEXTLINE(x): why\nint f();\n",
        "int f();  // NOLINT: why\n",
        "inline int f() {\n  // Why.\n  return 1;  // One.\n}\n",
        "inline int f() {\n  if (x) {\n    // Why.\n    return 1;\n  }\n  // Why.\n  return f({1, 2});  // One.\n}\n",
        "constexpr int kA[] = {\n    // One.\n    1,  // Two.\n};\n",
        "int f(int x,  // One.\n      // Two.\n      int y);\n",
        "int f(  // Whose.\n    int y);\n",
        "inline auto f = [](int x) {\n  // Why.\n  return x;  // One.\n};\n",
        "const char* s = \"// none\";\n",
        "/// Has it already.\nint f();\n",
    ):
      with self.subTest(text):
        self.check(text, text)

  def test_a_comment_behind_a_declaration_documents_it(self):
    self.check(
        """\
        // A.
        struct A {
          int x = 0;        // One,
          int long_name{};  // and
                            // two.
          const char* s = "// none";  // Three.

          // Four.
          int f() const { return x; }  // Five.

         private:
          // Six.
          int y;
        };
        // E.
        enum class E {
          kA,  // Seven.
          // Eight.
          kB,
          kC = f(1),  // Nine.
          kD  // Ten.
        };
        int g(int x,
              int y);  // Eleven.
        """, """\
        /// A.
        struct A {
          int x = 0;        ///< One,
          int long_name{};  ///< and
                            ///< two.
          const char* s = "// none";  ///< Three.

          /// Four.
          int f() const { return x; }  ///< Five.

         private:
          /// Six.
          int y;
        };
        /// E.
        enum class E {
          kA,  ///< Seven.
          /// Eight.
          kB,
          kC = f(1),  ///< Nine.
          kD  ///< Ten.
        };
        int g(int x,
              int y);  ///< Eleven.
        """)

  def test_declarations_stand_in_namespaces_and_classes(self):
    self.check(
        """\
        extern "C" {
        namespace a::b {
        template <typename T, typename = std::enable_if_t<(sizeof(T) > 1)>>
        // Odd, but legal.
        class A final : public B<T> {
          // One.
          void f() {
            struct Local {
              int x;  // Hidden.
            };
          }
          // Two.
          void g();
        };
        }  // namespace a::b
        }  // extern "C"
        // Three.
        void h();
        """, """\
        extern "C" {
        namespace a::b {
        template <typename T, typename = std::enable_if_t<(sizeof(T) > 1)>>
        // Odd, but legal.
        /** See room/a.h. */ class A final : public B<T> {
          /// One.
          void f() {
            struct Local {
              int x;  // Hidden.
            };
          }
          /// Two.
          void g();
        };
        }  // namespace a::b
        }  // extern "C"
        /// Three.
        void h();
        """)

  def test_a_class_without_a_comment_refers_to_the_file(self):
    for before, after in (
        ("class A {\n};\n", "/** See room/a.h. */ class A {\n};\n"),
        ("  struct A { int x; };\n", "  /** See room/a.h. */ struct A { int x; };\n"),
        ("enum class A : uint8_t { kB };\n", "/** See room/a.h. */ enum class A : uint8_t { kB };\n"),
        ("template <typename T>\nstruct A {\n};\n", "template <typename T>\n/** See room/a.h. */ struct A {\n};\n"),
        ("class A;\n", "class A;\n"),
        ("void f() {\n  struct A {\n    int x;\n  };\n}\n", "void f() {\n  struct A {\n    int x;\n  };\n}\n"),
        ("struct A f();\n", "struct A f();\n"),
        ("// Has one.\ntemplate <typename T>\nstruct A {\n};\n", "/// Has one.\ntemplate <typename T>\nstruct A {\n};\n"),
    ):
      with self.subTest(before):
        self.check(before, after)

  def test_internal_macros_are_left_out(self):
    self.check("// Why.\n#define A_(x) \\\n  x\n#define B(x) A_(x)\n", "// Why.\n\n\n#define B(x) A_(x)\n")
    self.check("#define X(a) a,\n#include \"x.inc\"\n#undef X\n", "\n\n#undef X\n")
    self.check("#define A(x) x\n#undef AB\n", "#define A(x) x\n#undef AB\n")

  def test_a_constant_that_the_preprocessor_puts_together_has_no_value(self):
    self.check("constexpr int kN = 0\n#define X(a) +1\n#include \"x.inc\"\n#undef X\n    ;\n// One.\nint f();\n",
               "constexpr int kN\n\n\n\n    ;\n/// One.\nint f();\n")

  def test_text_is_literal(self):
    for text, expected in (
        ("vector<int> & a@b, \\n #1", "vector\\<int\\> \\& a\\@b, \\\\n \\#1"),
        ("5 % of %d, --flag, a -- b, a - b", "5 % of \\%d, \\--flag, a \\-- b, a - b"),
        ("*p, a * b, (|A|)_ij, snake_case, a*b, kernel_*", "\\*p, a \\* b, (|A|)\\_ij, snake_case, a*b, kernel\\_\\*"),
        ("\"a<b> *c --d\", <e>", "\"a<b> *c --d\", \\<e\\>"),
        ("`a<b> & *c --d`, <e>", "`a<b> & *c --d`, \\<e\\>"),
        ("__shared__, __syncthreads(), `__host__`", "`__shared__`, `__syncthreads`(), `__host__`"),
        ("see docs/a/b_c.md.", "see @ref docs_a_b_c \"docs/a/b_c.md\"."),
    ):
      with self.subTest(text):
        self.check(f"// {text}\nint f();\n", f"/// {expected}\nint f();\n")

  def test_examples_and_lists(self):
    self.check(
        """\
        // Text:
        //
        //   A<B> b; b.c();  // *Why*.
        //
        //   b.d();
        //
        // More:
        //
        //   1. *one*
        //      goes on
        //   - two
        //
        //   a  <b>
        int f();
        """, """\
        /// Text:
        /// @code{.cpp}
        ///   A<B> b; b.c();  // *Why*.
        ///
        ///   b.d();
        /// @endcode
        /// More:
        ///
        ///   1. \\*one\\*
        ///      goes on
        ///   - two
        /// @code{.unparsed}
        ///   a  <b> @endcode
        int f();
        """)


if __name__ == "__main__":
  unittest.main()
