/** A folder of docs/examples/, ready to run. */
export interface Example {
  language: string
  /** Returns the command that publishes the event in a file. */
  publish: (file: string) => string[]
  /** The command that checks documents for `verdictsOf`. */
  check?: string[]
  env?: Record<string, string>
}

/** The verdict of a validator about a document. */
export interface Verdict {
  code: string
  pointers: string[]
}

/** A document and the schema to check it against. */
export interface Question {
  check: 'full' | 'received'
  base64: string
}
