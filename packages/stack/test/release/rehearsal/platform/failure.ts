/** An error response in the form of the API: `{id, message}`. */
export class Failure extends Error {
  readonly status: number
  readonly id: string

  constructor(status: number, id: string, message: string) {
    super(message)
    this.status = status
    this.id = id
  }
}
