import type { Job } from '../../src/api/index.ts'

const progress = ({ state, replayed, refused, done }: Job) =>
  (state === 'running' ? 0 : 1e9) + replayed + refused + done

/** Returns the newer of two states of a job. Answers and messages of the stream may arrive in any order. */
export const newerJob = (known: Job | undefined, other: Job): Job =>
  known && progress(known) > progress(other) ? known : other

export function withJob(jobs: ReadonlyMap<string, Job>, job: Job): ReadonlyMap<string, Job> {
  return new Map(jobs).set(job.id, newerJob(jobs.get(job.id), job))
}
