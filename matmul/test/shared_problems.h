// Problems that several implementations are tested with, one after the other.

#ifndef STRIDEWISE_MATMUL_TEST_SHARED_PROBLEMS_H_
#define STRIDEWISE_MATMUL_TEST_SHARED_PROBLEMS_H_

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <typeindex>
#include <utility>

#include "gtest/gtest.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"

namespace stridewise {

// Keeps the operands and references of a test's problems, which are the same for each parameter of
// the test: to fill and to define them takes the host longer than a GPU takes to multiply. A suite
// holds one in a static member, and frees it in TearDownTestSuite(): all cases of a test take up to
// 4 GB.
class SharedProblems {
 public:
  // Returns the problem of this case, with C as it was at first and in the case's precision, on
  // which references do not depend. Valid until a test of another name calls this. REQUIRES: nobody
  // changes its operands.
  template <typename T, typename Out, typename OfB = T>
  MatMulTestProblem<T, Out, OfB>* Get(const MatMulCase& c) {
    using Problem = MatMulTestProblem<T, Out, OfB>;
    // GoogleTest runs a test with all of its parameters, and then the next one.
    std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    test.resize(std::min(test.find('/'), test.size()));
    if (test != test_) problems_.clear();
    test_ = test;
    MatMulCase in_any = c;
    in_any.precision = MatMulPrecision::kFp32;
    std::ostringstream name;
    name << in_any;
    std::shared_ptr<void>& kept = problems_[{typeid(Problem), name.str()}];
    if (kept == nullptr) kept = std::make_shared<Problem>(in_any);
    auto* const problem = static_cast<Problem*>(kept.get());
    problem->ResetC();
    problem->SetPrecision(c.precision);
    return problem;
  }

 private:
  std::string test_;  // Whose problems they are, without the parameter.
  // By type and by what a failure says of the case, which names all of it.
  std::map<std::pair<std::type_index, std::string>, std::shared_ptr<void>> problems_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_SHARED_PROBLEMS_H_
