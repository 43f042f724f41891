#!/bin/bash
# A study on Slurm, one worker a GPU:
#
#     sbatch slurm.sh first-look@real --store STORE
#
# What comes after the script's name is given to `babelscope run`. Each task of the array is a worker; the first one also
# has the scheduler and the run. Workers may come late, be taken away, and come back. Two minutes before a task's time is
# up, or when it is pre-empted, its step saves where it is, and the task queues again. The array ends with the study.
#
#SBATCH --job-name=babelscope
#SBATCH --array=0-7
#SBATCH --gres=gpu:1
#SBATCH --cpus-per-task=4
#SBATCH --mem=32G
#SBATCH --time=04:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=babelscope-%A_%a.log

scheduler=$PWD/scheduler-$SLURM_ARRAY_JOB_ID.json
ended=$PWD/ended-$SLURM_ARRAY_JOB_ID
[ -e "$ended" ] && exit 0

trap 'kill -TERM $run $worker 2>/dev/null' USR1 TERM

if [ "$SLURM_ARRAY_TASK_ID" = "$SLURM_ARRAY_TASK_MIN" ]; then
    rm -f "$scheduler"
    dask scheduler --scheduler-file "$scheduler" --port 0 --no-dashboard & server=$!
    babelscope run "$@" --engine "dask:$scheduler" & run=$!
fi
srun --ntasks=1 dask worker --scheduler-file "$scheduler" --no-nanny --no-dashboard \
    --nthreads 1 --resources "GPU=1" --death-timeout 120 & worker=$!

if [ -n "$run" ]; then
    while kill -0 "$run" 2>/dev/null; do wait "$run"; done    # a signal ends the waiting, and not the run
    wait "$run"; outcome=$?
    [ $outcome = 130 ] || touch "$ended"    # 130: interrupted; else the study has ended, well or not
    rm -f "$scheduler"
fi
while kill -0 "$worker" 2>/dev/null; do
    [ -e "$ended" ] && kill -TERM "$worker"
    sleep 2 & wait $!
done
[ -n "$server" ] && kill -TERM "$server" && wait "$server"
[ -e "$ended" ] && exit "${outcome:-0}"
scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
