// Runs tdoku (https://github.com/t-dillon/tdoku) as `native_solver.py` wants it.
//
//     g++ -O3 -mavx2 -std=c++17 -Itdoku/include -o tdoku-avx2
//         benchmarks/tdoku_driver.cpp tdoku/src/solver_dpll_triad_simd.cc
//     ./tdoku-avx2 bench puzzles.txt 2 1  # puzzles a second of processor time, puzzles, solutions
//     ./tdoku-avx2 list puzzles.txt 2     # the number of solutions of each puzzle, up to 2

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "tdoku.h"

int main(int count, char **arguments) {
    const std::string mode = count > 1 ? arguments[1] : "";
    if (!(mode == "bench" && count == 5) && !(mode == "list" && count == 4)) {
        std::fprintf(stderr, "usage: %s bench FILE LIMIT SECONDS, or list FILE LIMIT\n", arguments[0]);
        return 2;
    }
    std::ifstream file(arguments[2]);
    std::vector<std::string> puzzles;
    for (std::string line; std::getline(file, line);) {
        if (line.size() < 81) continue;
        line.resize(81);
        for (char &symbol : line) {
            if (symbol == '0') symbol = '.';
        }
        puzzles.push_back(line);
    }
    if (puzzles.empty()) {
        std::fprintf(stderr, "%s: no puzzle found\n", arguments[2]);
        return 1;
    }
    const size_t limit = std::strtoul(arguments[3], nullptr, 10);
    char solution[82];
    size_t guesses = 0;
    auto solve = [&](const std::string &puzzle) {
        return TdokuSolverDpllTriadSimd(puzzle.c_str(), limit, 0, solution, &guesses);
    };
    if (mode == "list") {
        for (const std::string &puzzle : puzzles) std::printf("%zu\n", solve(puzzle));
        return 0;
    }
    const double seconds = std::strtod(arguments[4], nullptr);
    size_t solutions = 0, done = 0;
    const std::clock_t start = std::clock();
    double elapsed = 0;
    do {
        for (const std::string &puzzle : puzzles) solutions += solve(puzzle);
        done += puzzles.size();
        elapsed = double(std::clock() - start) / CLOCKS_PER_SEC;
    } while (elapsed < seconds);
    std::printf("%.1f %zu %zu\n", done / elapsed, done, solutions);
    return 0;
}
