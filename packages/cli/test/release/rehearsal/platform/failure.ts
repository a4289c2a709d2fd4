/** An answer other than success, in the shape of the API's errors: `{id, message}`. */
export class Failure extends Error {
  readonly status: number
  readonly id: string

  constructor(status: number, id: string, message: string) {
    super(message)
    this.status = status
    this.id = id
  }
}
