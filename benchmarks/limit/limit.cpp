// How fast can these searches be on this machine? A program without the library's duties.
//
// It reads a map (uint8 terrain, 0 closed, row by row) and answers, line by line from stdin, with
// the seconds of the search alone, a count and a sum of totals, which are compared with the
// library's answers:  limit FILE HEIGHT WIDTH
//
//   whole RULE ROW COL          RULE: octile, equidistant, hex (odd-r), bfs, alternating
//   reach BUDGET N ROW COL ...  octile, within BUDGET
//   paths RULE N ROW COL ROW COL ...   A* (octile, hex), RULE: octile, hex
//
// Buckets are plain growing arrays in a ring. A bucket as wide as the least step needs no order:
// what is in the lowest one is final. Closed cells and the ring around the map hold a total that
// nothing undercuts, so a step needs one comparison and no mask.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr int32_t FAR = INT32_MAX / 2;
constexpr int MOST = 16;      // dearest cell that the rings of buckets have room for
constexpr int32_t SHUT = -1;  // total of what is never entered

struct Entry {
    int32_t cell;
    int32_t total;
};

int height, width, stride;
std::vector<uint16_t> enter;     // by padded cell
std::vector<int32_t> blank;      // FAR where open, SHUT where not
std::vector<int32_t> totals;
std::vector<int32_t> touched;

template <int N> struct Buckets {
    std::vector<Entry> ring[N];
    static constexpr int MASK = N - 1;
    void push(int key, Entry entry) { ring[key & MASK].push_back(entry); }
};

struct Answer {
    int64_t count = 0, sum = 0, expanded = 0;
};

int32_t padded(int row, int col) { return (row + 1) * stride + col + 1; }

Answer summed() {
    Answer answer;
    for (int32_t total : totals)
        if (total >= 0 && total < FAR) { ++answer.count; answer.sum += total; }
    return answer;
}

// Whole map: `STRAIGHT` and `DIAGONAL` per unit of cost; SHIFT: buckets of 2^SHIFT <= STRAIGHT.
template <int STRAIGHT, int DIAGONAL, int SHIFT, int N> int64_t whole_square(int32_t start) {
    static Buckets<N> queue;
    std::memcpy(totals.data(), blank.data(), blank.size() * sizeof(int32_t));
    int32_t *const total = totals.data();
    const uint16_t *const cost = enter.data();
    const int32_t straight[4] = {-stride, 1, stride, -1};
    const int32_t diagonal[4] = {-stride + 1, stride + 1, stride - 1, -stride - 1};
    total[start] = 0;
    queue.push(0, {start, 0});
    int64_t left = 1, expanded = 0;
    for (int key = 0; left > 0; ++key) {
        auto &bucket = queue.ring[key & Buckets<N>::MASK];
        // Steps as dear as a bucket is wide never land in the bucket being emptied.
        for (size_t i = 0; i < bucket.size(); ++i) {
            const Entry entry = bucket[i];
            if (total[entry.cell] != entry.total) continue;
            ++expanded;
            for (int32_t offset : straight) {
                const int32_t to = entry.cell + offset;
                const int32_t after = entry.total + STRAIGHT * cost[to];
                if (after < total[to]) {
                    total[to] = after;
                    queue.push(after >> SHIFT, {to, after});
                    ++left;
                }
            }
            for (int32_t offset : diagonal) {
                const int32_t to = entry.cell + offset;
                const int32_t after = entry.total + DIAGONAL * cost[to];
                if (after < total[to]) {
                    total[to] = after;
                    queue.push(after >> SHIFT, {to, after});
                    ++left;
                }
            }
        }
        left -= int64_t(bucket.size());
        bucket.clear();
    }
    return expanded;
}

const int32_t (&hex_offsets())[2][6] {
    static int32_t offsets[2][6];
    const int32_t s = stride;
    const int32_t even[6] = {1, -1, -s - 1, -s, s - 1, s};
    const int32_t odd[6] = {1, -1, -s, -s + 1, s, s + 1};
    std::copy(even, even + 6, offsets[0]);
    std::copy(odd, odd + 6, offsets[1]);
    return offsets;
}

int64_t whole_hex(int32_t start) {
    constexpr int N = 256;  // costs below 256
    static Buckets<N> queue;
    std::memcpy(totals.data(), blank.data(), blank.size() * sizeof(int32_t));
    int32_t *const total = totals.data();
    const uint16_t *const cost = enter.data();
    const auto &offsets = hex_offsets();
    total[start] = 0;
    queue.push(0, {start, 0});
    int64_t left = 1, expanded = 0;
    for (int key = 0; left > 0; ++key) {
        auto &bucket = queue.ring[key & (N - 1)];
        for (size_t i = 0; i < bucket.size(); ++i) {
            const int32_t cell = bucket[i].cell;
            if (total[cell] != key) continue;
            ++expanded;
            for (int32_t offset : offsets[(cell / stride + 1) & 1]) {
                const int32_t to = cell + offset;
                const int32_t after = key + cost[to];
                if (after < total[to]) {
                    total[to] = after;
                    queue.push(after, {to, after});
                    ++left;
                }
            }
        }
        left -= int64_t(bucket.size());
        bucket.clear();
    }
    return expanded;
}

// Alternating diagonals: two totals a cell, side by side; the second where the next one is dear.
std::vector<int32_t> twin;

int64_t whole_alternating(int32_t start) {
    constexpr int N = 512;
    static Buckets<N> queue;
    for (size_t i = 0; i < blank.size(); ++i) twin[2 * i] = twin[2 * i + 1] = blank[i];
    int32_t *const total = twin.data();
    const uint16_t *const cost = enter.data();
    const int32_t straight[4] = {-stride, 1, stride, -1};
    const int32_t diagonal[4] = {-stride + 1, stride + 1, stride - 1, -stride - 1};
    total[2 * start] = 0;
    queue.push(0, {2 * start, 0});
    int64_t left = 1, expanded = 0;
    for (int key = 0; left > 0; ++key) {
        auto &bucket = queue.ring[key & (N - 1)];
        for (size_t i = 0; i < bucket.size(); ++i) {
            const int32_t state = bucket[i].cell, cell = state >> 1, odd = state & 1;
            if (total[state] != key) continue;
            ++expanded;
            for (int32_t offset : straight) {
                const int32_t to = cell + offset, after = key + cost[to];
                if (after < total[2 * to + odd]) {
                    total[2 * to + odd] = after;
                    queue.push(after, {2 * to + odd, after});
                    ++left;
                }
            }
            for (int32_t offset : diagonal) {
                const int32_t to = cell + offset, after = key + ((3 * cost[to] + odd) >> 1);
                if (after < total[2 * to + 1 - odd]) {
                    total[2 * to + 1 - odd] = after;
                    queue.push(after, {2 * to + 1 - odd, after});
                    ++left;
                }
            }
        }
        left -= int64_t(bucket.size());
        bucket.clear();
    }
    for (size_t i = 0; i < blank.size(); ++i) totals[i] = std::min(twin[2 * i], twin[2 * i + 1]);
    return expanded;
}

int64_t whole_bfs(int32_t start) {
    static std::vector<int32_t> now, next;
    std::memcpy(totals.data(), blank.data(), blank.size() * sizeof(int32_t));
    now.resize(blank.size());
    next.resize(blank.size());
    int32_t *const total = totals.data();
    const int32_t offsets[8] = {-stride - 1, -stride, -stride + 1, -1, 1, stride - 1, stride,
                                stride + 1};
    total[start] = 0;
    now[0] = start;
    int64_t n = 1, expanded = 0;
    for (int32_t step = 1; n > 0; ++step) {
        int64_t m = 0;
        expanded += n;
        for (int64_t i = 0; i < n; ++i)
            for (int32_t offset : offsets) {
                const int32_t to = now[i] + offset;
                // Written whether or not it is new, kept if it is: no branch to guess.
                next[m] = to;
                const bool is_new = total[to] == FAR;
                total[to] = is_new ? step : total[to];
                m += is_new;
            }
        std::swap(now, next);
        n = m;
    }
    return expanded;
}

// Reach: as the whole map, but only what was touched is cleaned.
Answer reach(int32_t start, int32_t budget, std::vector<Entry> &out) {
    static Buckets<32> queue;
    int32_t *const total = totals.data();
    const uint16_t *const cost = enter.data();
    const int32_t offsets[8] = {-stride, 1, stride, -1, -stride + 1, stride + 1, stride - 1,
                                -stride - 1};
    out.clear();
    touched.clear();
    total[start] = 0;
    touched.push_back(start);
    queue.push(0, {start, 0});
    int64_t left = 1;
    Answer answer;
    for (int key = 0; left > 0; ++key) {
        auto &bucket = queue.ring[key & 31];
        for (size_t i = 0; i < bucket.size(); ++i) {
            const Entry entry = bucket[i];
            if (total[entry.cell] != entry.total) continue;
            out.push_back(entry);
            for (int direction = 0; direction < 8; ++direction) {
                const int32_t to = entry.cell + offsets[direction];
                const int32_t after = entry.total + (direction < 4 ? 70 : 99) * cost[to];
                const int32_t before = total[to];
                if (after < before && after <= budget) {
                    if (before == FAR) touched.push_back(to);
                    total[to] = after;
                    queue.push(after >> 6, {to, after});
                    ++left;
                }
            }
        }
        left -= int64_t(bucket.size());
        bucket.clear();
    }
    for (int32_t cell : touched) total[cell] = FAR;
    answer.expanded = answer.count = int64_t(out.size());
    for (const Entry &entry : out) answer.sum += entry.total;
    return answer;
}

// A* with buckets on total + heuristic, the last found first; entry costs are 1 or more.
Answer find(bool is_hex, int32_t start, int32_t goal) {
    constexpr int N = 4096;  // above the dearest step and the most that a heuristic changes by
    static Buckets<N> queue;
    int32_t *const total = totals.data();
    const uint16_t *const cost = enter.data();
    const int32_t square[8] = {-stride, 1, stride, -1, -stride + 1, stride + 1, stride - 1,
                               -stride - 1};
    const auto &hex = hex_offsets();
    const int goal_row = goal / stride, goal_col = goal % stride;
    const int goal_x = goal_col - ((goal_row - 1) >> 1);
    auto ahead = [&](int32_t cell) {
        const int row = cell / stride, col = cell - row * stride;
        if (is_hex) {
            const int dy = row - goal_row, dx = col - ((row - 1) >> 1) - goal_x;
            return std::max({std::abs(dx), std::abs(dy), std::abs(dx + dy)});
        }
        const int a = std::abs(row - goal_row), b = std::abs(col - goal_col);
        return 70 * std::max(a, b) + 29 * std::min(a, b);
    };
    touched.clear();
    touched.push_back(start);
    total[start] = 0;
    int key = ahead(start);
    queue.push(key, {start, 0});
    int64_t left = 1;
    Answer answer;
    bool found = false;
    int seen[2] = {key, key};
    for (; left > 0 && !found; ++key) {
        auto &bucket = queue.ring[key & (N - 1)];
        while (!bucket.empty()) {
            const Entry entry = bucket.back();
            bucket.pop_back();
            --left;
            if (total[entry.cell] != entry.total) continue;
            if (entry.cell == goal) {
                answer.sum = entry.total;
                found = true;
                break;
            }
            ++answer.expanded;
            const int32_t *offsets = is_hex ? hex[(entry.cell / stride + 1) & 1] : square;
            const int n = is_hex ? 6 : 8;
            for (int direction = 0; direction < n; ++direction) {
                const int32_t to = entry.cell + offsets[direction];
                const int factor = is_hex ? 1 : direction < 4 ? 70 : 99;
                const int32_t after = entry.total + factor * cost[to];
                const int32_t before = total[to];
                if (after < before) {
                    if (before == FAR) touched.push_back(to);
                    total[to] = after;
                    const int f = after + ahead(to);
                    seen[1] = std::max(seen[1], f);
                    queue.push(f, {to, after});
                    ++left;
                }
            }
        }
    }
    // What is left over lies between the goal's key and the highest one pushed.
    for (int k = seen[0]; k <= seen[1] && k < seen[0] + N; ++k) queue.ring[k & (N - 1)].clear();
    for (int32_t cell : touched) total[cell] = FAR;
    answer.count = found;
    return answer;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 4) {
        std::fprintf(stderr, "limit FILE HEIGHT WIDTH\n");
        return 2;
    }
    height = std::atoi(argv[2]);
    width = std::atoi(argv[3]);
    stride = width + 2;
    std::vector<uint8_t> terrain(size_t(height) * width);
    FILE *file = std::fopen(argv[1], "rb");
    if (!file || std::fread(terrain.data(), 1, terrain.size(), file) != terrain.size()) return 2;
    std::fclose(file);
    for (uint8_t cost : terrain)
        if (cost > MOST) return 2;
    const size_t n = size_t(height + 2) * stride;
    enter.assign(n, 0);
    blank.assign(n, SHUT);
    twin.assign(2 * n, FAR);
    for (int row = 0; row < height; ++row)
        for (int col = 0; col < width; ++col)
            if (const uint8_t cost = terrain[size_t(row) * width + col]) {
                enter[padded(row, col)] = cost;
                blank[padded(row, col)] = FAR;
            }
    totals = blank;
    std::string what, rule;
    while (std::cin >> what) {
        Answer answer;
        double seconds = 0;
        auto begin = std::chrono::steady_clock::now();
        auto stop = [&] {
            seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        };
        if (what == "whole") {
            int row, col;
            std::cin >> rule >> row >> col;
            const int32_t start = padded(row, col);
            int64_t expanded = 0;
            begin = std::chrono::steady_clock::now();
            if (rule == "octile") expanded = whole_square<70, 99, 6, 32>(start);
            else if (rule == "equidistant") expanded = whole_square<1, 1, 0, 512>(start);
            else if (rule == "hex") expanded = whole_hex(start);
            else if (rule == "alternating") expanded = whole_alternating(start);
            else expanded = whole_bfs(start);
            stop();
            answer = summed();
            answer.expanded = expanded;
            totals = blank;
        } else {
            int budget = 0, n_asked, is_hex = 0;
            if (what == "reach") std::cin >> budget;
            else { std::cin >> rule; is_hex = rule == "hex"; }
            std::cin >> n_asked;
            std::vector<int32_t> cells;
            const int each = what == "reach" ? 1 : 2;
            for (int i = 0, row, col; i < n_asked * each && std::cin >> row >> col; ++i)
                cells.push_back(padded(row, col));
            std::vector<Entry> out;
            begin = std::chrono::steady_clock::now();
            for (int i = 0; i < n_asked; ++i) {
                const Answer one = what == "reach" ? reach(cells[i], budget, out)
                                                   : find(is_hex, cells[2 * i], cells[2 * i + 1]);
                answer.count += one.count;
                answer.sum += one.sum;
                answer.expanded += one.expanded;
            }
            stop();
        }
        std::printf("%.9f %lld %lld %lld\n", seconds, (long long)answer.count,
                    (long long)answer.sum, (long long)answer.expanded);
        std::fflush(stdout);
    }
}
