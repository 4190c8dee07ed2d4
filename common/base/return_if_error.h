// The macro that returns an error to the caller, for absl::Status and LaunchStatus. Kernel files
// include this and not status_macros.h, which includes Abseil's headers.

#ifndef STRIDEWISE_COMMON_BASE_RETURN_IF_ERROR_H_
#define STRIDEWISE_COMMON_BASE_RETURN_IF_ERROR_H_

// Returns from the enclosing function if `expr`, a status, is an error.
#define RETURN_IF_ERROR(expr)                        \
  do {                                               \
    auto status_of_expr = (expr);                    \
    if (!status_of_expr.ok()) return status_of_expr; \
  } while (false)

#endif  // STRIDEWISE_COMMON_BASE_RETURN_IF_ERROR_H_
