#!/usr/bin/env bash
# Draws the kept figures: each of ours as a multiple of the same by SQLite or PostgreSQL alone, measured in the same run.
#
#   Tests/Benchmarks/chart.sh            writes deploy/pictures/figures.svg
#   Tests/Benchmarks/chart.sh --check    fails if that file is not what this script draws
#   Tests/Benchmarks/chart.sh --help
#
# The figures are the blocks of text in LOCAL.md and SERVER.md beside this script, which 'run.sh --keep' writes. The same figures give the
# same bytes.
set -euo pipefail

# shellcheck source=deploy/lib/benchmark.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../deploy/lib/benchmark.sh"
export LC_ALL=C
picture=deploy/pictures/figures.svg

# The rows of LOCAL.md that are drawn, with their captions.
device_rows="
50 messages of 100000, repository|show 50 of 100,000 messages
1000 messages of 100000, repository|show 1,000 of them
insert of a message, durable|write a message, durable
batch of 100 messages|write 100 in one batch
update of a record, durable|change a record, durable
delete of a message, durable|delete a message, durable
"

# block PAGE: prints the block of text of a page.
block() { awk '/^```text$/ { shown = 1; next } /^```$/ { shown = 0 } shown' "$top/Tests/Benchmarks/$1"; }

# rows: prints the rows of the chart: panel, caption, figure and unit, multiple.
rows() {
    block LOCAL.md | awk -v wanted="$device_rows" '
        BEGIN {
            count = split(wanted, lines, "\n")
            for (n = 1; n <= count; n++) if (split(lines[n], pair, "|") == 2) { order[++last] = pair[1]; caption[pair[1]] = pair[2] }
        }
        { split($0, cells, /  +/); if (cells[1] in caption && cells[3] + 0 > 0) { ours[cells[1]] = cells[2]; alone[cells[1]] = cells[3] } }
        END {
            for (n = 1; n <= last; n++) {
                if (!(order[n] in ours)) { print "no row " order[n] > "/dev/stderr"; exit 1 }
                printf "device|%s|%.2f ms, SQLite alone %.2f|%.3f\n", caption[order[n]], ours[order[n]], alone[order[n]], ours[order[n]] / alone[order[n]]
            }
        }'
    block SERVER.md | awk '
        # 12345.6 as 12,300: three digits are known, not more.
        function short(value) { return value < 1000 ? sprintf("%d", value) : sprintf("%d,%03d", int(value / 1000), int(value % 1000 / 100) * 100) }
        { split($0, cells, /  +/) }
        /^pgbench INSERT commits\/s, bare rows/ { bare = cells[2] }
        /^writes\/s, 256 writers, .* in flight, PostgreSQL/ {
            split(cells[1], words, ", "); sub(/ in flight/, "", words[3])
            caption = "256 writers, each " (words[3] == 1 ? "waits for an answer" : "sends " words[3] " at once")
            value = cells[2]
            if (value !~ /^[0-9]/ || bare !~ /^[0-9]/) { print "no figure in: " $0 > "/dev/stderr"; exit 1 }
            drawn++
        }
        /^  x bare rows/ { printf "server|%s|%s a second, pgbench %s|%.3f\n", caption, short(value), short(bare), cells[3] }
        END { if (NR > 0 && drawn != 3) { print "SERVER.md has " drawn + 0 " of 3 rows" > "/dev/stderr"; exit 1 } }'
}

draw() {
    rows | awk -F '|' '
        function text(x, y, class, words) { printf "<text x=\"%d\" y=\"%d\" class=\"%s\">%s</text>\n", x, y, class, words }
        function bar(x, y, width, class) { printf "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"11\" rx=\"2\" class=\"%s\"/>\n", x, y, width, class }
        function panel(title, hint) { y += 30; text(24, y, "title", title); text(24, y + 19, "hint", hint); y += 34 }
        BEGIN { left = 262; unit = 90; y = 6 }
        {
            if ($1 != shown) {
                shown = $1
                if (shown == "device") panel("On the device, beside SQLite alone", "time of the same on the same file in the same run; a shorter bar is better")
                else panel("On the server, beside PostgreSQL alone", "durable commits a second, beside pgbench inserting bare rows in the same run; a longer bar is better")
            }
            text(left - 10, y + 16, "caption", $2)
            bar(left, y, unit * $4, "ours")
            bar(left, y + 13, unit, "alone")
            text(left + unit * ($4 > 1 ? $4 : 1) + 10, y + 16, "figure", sprintf("%.1f ×", $4) "  (" $3 ")")
            y += 33
        }
        END { text(24, y + 16, "hint", "Each second bar is SQLite or PostgreSQL alone. Tests/Benchmarks/run.sh --keep measures and draws this anew."); print "height " y + 34 }' >"$1.parts"
    {
        printf '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 %s" role="img" aria-label="Tidemark beside SQLite and PostgreSQL alone">\n' \
            "$(awk '/^height / { print $2 }' "$1.parts")"
        cat <<'END'
<!-- Made by Tests/Benchmarks/chart.sh. -->
<style>
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #17212b; }
  .title { font-weight: 600; font-size: 15px; } .caption { text-anchor: end; } .hint, .figure { fill: #52606d; font-size: 12px; }
  .back { fill: #ffffff; } .ours { fill: #1668b8; } .alone { fill: #a9b6c2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4ebf1; } .hint, .figure { fill: #a3b1bd; } .back { fill: #0f1720; } .ours { fill: #58a6ff; } .alone { fill: #5b6b7a; }
  }
</style>
<rect class="back" width="100%" height="100%" rx="8"/>
END
        grep -v '^height ' "$1.parts"
        echo '</svg>'
    } >"$1"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
draw "$work/figures.svg"
if [[ ${1:-} == --check ]]; then
    cmp -s "$work/figures.svg" "$top/$picture" || refuse "$picture is not drawn from the kept figures: run Tests/Benchmarks/chart.sh"
else
    cp "$work/figures.svg" "$top/$picture"
    say "$picture is drawn"
fi
