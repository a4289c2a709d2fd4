import type { Tool } from './tools.ts'

export interface ProvisionOptions {
  onProgress: (line: string) => void
  signal?: AbortSignal | undefined
}

/** A thing the cache holds, and how it gets there. */
export interface Provisioned {
  /** The folder in the cache; it exists only when complete. */
  folder: string
  /** What is made, why here, and how long that takes: told before the work begins. */
  about: string
  /** What making it needs. */
  needs: Tool[]
  /** Makes it in an empty folder, which then takes its final name. */
  make: (folder: string, options: ProvisionOptions) => Promise<void>
}
