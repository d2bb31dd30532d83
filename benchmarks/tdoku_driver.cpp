// Measures tdoku (https://github.com/t-dillon/tdoku) as `native_solver.py` wants it.
//
//     cd tdoku && g++ -O3 -mavx2 -std=c++17 -Iinclude -o tdoku-avx2 \
//         .../benchmarks/tdoku_driver.cpp src/solver_dpll_triad_simd.cc
//     ./tdoku-avx2 bench puzzles.txt 2 1
//
// Prints puzzles a second of processor time, the puzzles done, and the solutions counted.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "tdoku.h"

int main(int count, char **arguments) {
    if (count != 5 || std::strcmp(arguments[1], "bench") != 0) {
        std::fprintf(stderr, "usage: %s bench FILE LIMIT SECONDS\n", arguments[0]);
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
    const double seconds = std::strtod(arguments[4], nullptr);
    char solution[82];
    size_t guesses = 0, solutions = 0, done = 0;
    const std::clock_t start = std::clock();
    double elapsed = 0;
    do {
        for (const std::string &puzzle : puzzles) {
            solutions += TdokuSolverDpllTriadSimd(puzzle.c_str(), limit, 0, solution, &guesses);
        }
        done += puzzles.size();
        elapsed = double(std::clock() - start) / CLOCKS_PER_SEC;
    } while (elapsed < seconds);
    std::printf("%.1f %zu %zu\n", done / elapsed, done, solutions);
    return 0;
}
