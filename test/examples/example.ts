export interface Example {
  language: string
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
