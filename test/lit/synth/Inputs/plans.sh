#!/bin/sh
# plans.sh CCSYNTH FOLDER: schedules of every collective that MSCCL++ knows, on machines with and without switches, by
# searches, trees and flows, become plans, which are run in the model of MSCCL++'s executor.
ccsynth=$1
mkdir -p "$2"
cd "$2" || exit 1
plan() {
  for to in mscclpp mscclpp-ll mscclpp-legacy; do
    "$ccsynth" convert schedule.json --to $to -o plan.json && "$ccsynth" check plan.json || exit 1
  done
}
solve() {
  "$ccsynth" solve -q -t "$1" -c $2 -C $3 -S $4 -R $5 -o schedule.json || exit 1
  plan
}
solve dgx1 all_gather 6 3 7
solve dgx1 reduce_scatter 6 3 7
solve dgx1 all_reduce 12 4 4
solve dgx1 all_to_all 24 2 8
solve z52 all_to_all 8 4 8
solve hgx-h100 all_gather 1 1 7
solve hgx-h100 all_reduce 8 2 14
solve "torus(4,4)" all_gather 1 4 4
solve "ring(5)" all_reduce 1 2 2
for kind in all_gather reduce_scatter all_reduce; do
  "$ccsynth" trees -q -t "ring(6)" -c $kind -o schedule.json 2> notes.txt || exit 1
  plan
done
"$ccsynth" flows -q -t hgx-h100x2 -c all_to_all -o schedule.json 2> notes.txt || exit 1
plan
