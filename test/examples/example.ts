export interface Example {
  language: string
  /** The folder in which the README runs the program. The tests use this folder, too, because the default of SCHEMAS depends on it. */
  folder: string
  publish: (file: string) => string[]
  /** The command that checks documents for `verdictsOf`. */
  check?: string[]
  env?: Record<string, string>
}

export interface Verdict {
  code: string
  pointers: string[]
}

export interface Question {
  check: 'full' | 'received'
  base64: string
}
