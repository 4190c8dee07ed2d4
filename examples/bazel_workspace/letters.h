#pragma once

constexpr int kLetters = 26;
