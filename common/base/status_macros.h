// The macros that return an error to the caller: RETURN_IF_ERROR() and ASSIGN_OR_RETURN().

#ifndef STRIDEWISE_COMMON_BASE_STATUS_MACROS_H_
#define STRIDEWISE_COMMON_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/return_if_error.h"

#define STRIDEWISE_CONCAT_INNER_(x, y) x##y
#define STRIDEWISE_CONCAT_(x, y) STRIDEWISE_CONCAT_INNER_(x, y)

// Declares or assigns `lhs` from `expr`, an absl::StatusOr<T>; returns from the enclosing function
// if it is an error.
#define ASSIGN_OR_RETURN(lhs, expr) \
  ASSIGN_OR_RETURN_IMPL_(STRIDEWISE_CONCAT_(status_or_, __LINE__), lhs, expr)

#define ASSIGN_OR_RETURN_IMPL_(status_or, lhs, expr) \
  auto status_or = (expr);                           \
  if (!status_or.ok()) return status_or.status();    \
  lhs = *std::move(status_or)

#endif  // STRIDEWISE_COMMON_BASE_STATUS_MACROS_H_
