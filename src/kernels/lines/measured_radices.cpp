#include <algorithm>
#include <ranges>

#include "kernels/lines/radices.hpp"

namespace weft {

namespace {

struct Measured {
  LineKind kind;
  Index points;
  LineRadices radices;
};

/// The fastest by the mean of both precisions, of all radices of as few stages as there can be, or one more,
/// on an H200 (ADR 0081). By kind, then by points.
constexpr Measured all_measured[] = {
    {LineKind::apart, 120, {8, 15}},           {LineKind::apart, 140, {10, 2, 7}},
    {LineKind::apart, 168, {12, 2, 7}},        {LineKind::apart, 216, {8, 3, 9}},
    {LineKind::apart, 224, {16, 2, 7}},        {LineKind::apart, 252, {9, 7, 4}},
    {LineKind::apart, 280, {10, 4, 7}},        {LineKind::apart, 288, {9, 4, 8}},
    {LineKind::apart, 320, {10, 4, 8}},        {LineKind::apart, 324, {12, 3, 9}},
    {LineKind::apart, 336, {12, 4, 7}},        {LineKind::apart, 360, {12, 5, 6}},
    {LineKind::apart, 384, {12, 4, 8}},        {LineKind::apart, 420, {7, 4, 15}},
    {LineKind::apart, 480, {8, 4, 15}},        {LineKind::apart, 500, {10, 5, 10}},
    {LineKind::apart, 504, {9, 7, 8}},         {LineKind::apart, 560, {10, 8, 7}},
    {LineKind::apart, 576, {9, 8, 8}},         {LineKind::apart, 600, {10, 6, 10}},
    {LineKind::apart, 640, {10, 8, 8}},        {LineKind::apart, 648, {12, 9, 6}},
    {LineKind::apart, 672, {12, 7, 8}},        {LineKind::apart, 720, {12, 5, 12}},
    {LineKind::apart, 756, {12, 7, 9}},        {LineKind::apart, 768, {12, 8, 8}},
    {LineKind::apart, 840, {8, 15, 7}},        {LineKind::apart, 960, {8, 15, 8}},
    {LineKind::apart, 1152, {8, 16, 9}},       {LineKind::apart, 1344, {7, 12, 16}},
    {LineKind::apart, 1800, {15, 8, 15}},      {LineKind::apart, 2000, {10, 5, 5, 8}},
    {LineKind::rows_read, 96, {12, 4, 2}},     {LineKind::rows_read, 100, {5, 10, 2}},
    {LineKind::rows_read, 108, {9, 3, 4}},     {LineKind::rows_read, 120, {15, 2, 4}},
    {LineKind::rows_read, 144, {9, 4, 4}},     {LineKind::rows_read, 150, {10, 5, 3}},
    {LineKind::rows_read, 160, {10, 4, 4}},    {LineKind::rows_read, 180, {9, 5, 4}},
    {LineKind::rows_read, 192, {12, 4, 4}},    {LineKind::rows_read, 200, {5, 8, 5}},
    {LineKind::rows_read, 216, {9, 6, 4}},     {LineKind::rows_read, 240, {15, 8, 2}},
    {LineKind::rows_read, 288, {9, 8, 4}},     {LineKind::rows_read, 320, {10, 8, 4}},
    {LineKind::rows_read, 360, {9, 10, 4}},    {LineKind::rows_read, 384, {12, 8, 4}},
    {LineKind::rows_read, 400, {5, 16, 5}},    {LineKind::rows_read, 432, {9, 6, 8}},
    {LineKind::rows_read, 480, {8, 15, 4}},    {LineKind::rows_read, 576, {9, 8, 8}},
    {LineKind::rows_read, 640, {10, 16, 4}},   {LineKind::rows_read, 720, {15, 12, 4}},
    {LineKind::rows_read, 768, {12, 16, 4}},   {LineKind::rows_read, 800, {10, 10, 8}},
    {LineKind::rows_read, 864, {9, 12, 8}},    {LineKind::rows_stored, 96, {3, 4, 8}},
    {LineKind::rows_stored, 100, {2, 5, 10}},  {LineKind::rows_stored, 108, {4, 3, 9}},
    {LineKind::rows_stored, 120, {8, 15}},     {LineKind::rows_stored, 150, {5, 3, 10}},
    {LineKind::rows_stored, 160, {4, 4, 10}},  {LineKind::rows_stored, 192, {4, 6, 8}},
    {LineKind::rows_stored, 200, {2, 10, 10}}, {LineKind::rows_stored, 216, {4, 9, 6}},
    {LineKind::rows_stored, 240, {4, 4, 15}},  {LineKind::rows_stored, 250, {5, 5, 10}},
    {LineKind::rows_stored, 270, {5, 6, 9}},   {LineKind::rows_stored, 288, {6, 8, 6}},
    {LineKind::rows_stored, 300, {5, 6, 10}},  {LineKind::rows_stored, 320, {4, 8, 10}},
    {LineKind::rows_stored, 384, {6, 8, 8}},   {LineKind::rows_stored, 400, {5, 8, 10}},
    {LineKind::rows_stored, 432, {3, 9, 16}},  {LineKind::rows_stored, 450, {5, 6, 15}},
    {LineKind::rows_stored, 480, {4, 8, 15}},  {LineKind::rows_stored, 576, {6, 8, 12}},
    {LineKind::rows_stored, 640, {4, 16, 10}}, {LineKind::rows_stored, 720, {6, 10, 12}},
    {LineKind::rows_stored, 800, {5, 10, 16}}, {LineKind::rows_stored, 900, {4, 15, 15}},
    {LineKind::rows_stored, 960, {4, 16, 15}}, {LineKind::rows_stored, 1000, {5, 5, 5, 8}},
    {LineKind::planes, 320, {10, 4, 8}},       {LineKind::planes, 336, {6, 8, 7}},
    {LineKind::planes, 392, {7, 8, 7}},        {LineKind::planes, 400, {5, 16, 5}},
    {LineKind::planes, 448, {7, 8, 8}},        {LineKind::planes, 560, {7, 8, 10}},
    {LineKind::planes, 576, {9, 8, 8}},        {LineKind::planes, 600, {10, 6, 10}},
    {LineKind::planes, 640, {10, 4, 16}},      {LineKind::planes, 648, {9, 12, 6}},
    {LineKind::planes, 672, {12, 8, 7}},       {LineKind::planes, 720, {10, 12, 6}},
    {LineKind::planes, 784, {7, 16, 7}},       {LineKind::planes, 800, {5, 16, 10}},
    {LineKind::planes, 840, {7, 3, 8, 5}},     {LineKind::planes, 864, {9, 2, 6, 8}},
    {LineKind::planes, 1152, {4, 6, 6, 8}},    {LineKind::planes, 1176, {3, 8, 7, 7}},
    {LineKind::planes, 1280, {10, 16, 8}},     {LineKind::planes, 1440, {12, 15, 8}},
};

}  // namespace

std::optional<LineRadices> measured_radices(Index n, LineKind kind) {
  const auto* const found =
      std::ranges::find_if(all_measured, [&](const Measured& m) { return m.kind == kind && m.points == n; });
  return found == std::ranges::end(all_measured) ? std::nullopt : std::optional(found->radices);
}

}  // namespace weft
