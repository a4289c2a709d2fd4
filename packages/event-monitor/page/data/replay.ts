import { useComputed } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type Job, paths, type ReplayRequest } from '../../src/api/index.ts'
import { newerJob, withJob } from '../lib/jobs.ts'
import { post } from './api.ts'
import { useLoad } from './load.ts'
import { connection, jobs } from './stream.ts'

/** Maps the body of each unanswered request to its `Idempotency-Key`. */
const keys = new Map<string, string>()

/** @throws {ApiProblem} */
export async function replay(request: ReplayRequest): Promise<Job> {
  const body = JSON.stringify(request)
  const key = keys.get(body) ?? randomKey()
  keys.set(body, key)
  const job = await post<Job>(paths.replays, request, { key })
  keys.delete(body)
  know(job)
  return job
}

/** @throws {ApiProblem} */
export async function stop(id: string): Promise<void> {
  know(await post<Job>(paths.replayStop(id), {}))
}

function know(job: Job): void {
  jobs.value = withJob(jobs.value, job)
}

/** Returns a random key without `crypto.randomUUID`, which needs HTTPS or a local host. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Returns replay jobs, newest first, with the updates that the stream has sent. */
export function useJobs() {
  const { state, again } = useLoad<{ items: Job[] }>(paths.replays)
  const wasOpen = useRef(true)
  const isOpen = connection.value.state === 'open'
  useEffect(() => {
    // Loads the jobs again, because the page missed updates while it was not connected.
    if (isOpen && !wasOpen.current) again()
    wasOpen.current = isOpen
  }, [isOpen])
  return useComputed(() => {
    const all = new Map((state.value.data?.items ?? []).map((job) => [job.id, job]))
    for (const [id, job] of jobs.value) all.set(id, newerJob(all.get(id), job))
    return [...all.values()].sort((one, other) => other.startedAt.localeCompare(one.startedAt))
  })
}
