import {
  type OutgoingEvent,
  type Sidecar,
  SidecarError,
  type Store,
  type StoredDocument,
  type Write,
} from '../sidecar/sidecar.ts'

/** A sidecar in memory for unit tests, with etags as in Dapr. Tests can make calls fail. */
export class FakeSidecar implements Sidecar {
  readonly writeIntervalMs = 0
  readonly published: OutgoingEvent[] = []
  readonly documents = new Map<string, StoredDocument>()
  readonly calls = { publish: 0, read: 0, readOne: 0, transact: 0, save: 0, remove: 0 }
  /** The errors for the next calls, by the name of the call. Each call throws one error. */
  readonly failures: Record<keyof FakeSidecar['calls'], Error[]>
  /** The keys that bulk reads leave out, as Dapr's bulk reads may do if a connection breaks. */
  readonly overlooked = new Set<string>()
  /** Runs before the guards of writes are checked. Tests use it to write as another process. */
  beforeWrite: () => void = () => {}
  /** The server of the store, which only PostgreSQL reports. */
  server = 'first'
  #required: string | undefined
  readonly #storeType: string
  #version = 0
  #together = 0
  #waiting: (() => void)[] = []

  constructor(storeType = 'state.sqlite') {
    this.#storeType = storeType
    this.failures = { publish: [], read: [], readOne: [], transact: [], save: [], remove: [] }
  }

  async publish(_topic: string, events: OutgoingEvent[]): Promise<void> {
    await this.#call('publish')
    for (const event of events) this.published.push(event)
  }

  async read(keys: string[]): Promise<Map<string, StoredDocument>> {
    await this.#call('read')
    const found = keys.flatMap((key) => {
      const document = this.overlooked.has(key) ? undefined : this.documents.get(key)
      return document ? [[key, structuredClone(document)] as const] : []
    })
    await this.#meet()
    return new Map(found)
  }

  async readOne(key: string): Promise<StoredDocument | undefined> {
    await this.#call('readOne')
    return structuredClone(this.documents.get(key))
  }

  /** Makes the next `count` reads wait for each other, so that they see the same state, as if replicas decided at the same time. */
  readTogether(count: number): void {
    this.#together = count
  }

  async #meet(): Promise<void> {
    if (this.#together === 0) return
    this.#together -= 1
    if (this.#together > 0) return new Promise((resolve) => this.#waiting.push(resolve))
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  async transact(writes: Write[]): Promise<void> {
    await this.#call('transact')
    this.beforeWrite()
    if (!writes.every((write) => this.#holds(write))) throw lostRace()
    for (const { key, value } of writes) this.set(key, JSON.parse(value))
  }

  async save(writes: Write[], etag: string, needed = 0): Promise<void> {
    await this.#call('save')
    this.beforeWrite()
    if (this.#required !== undefined && this.#required !== this.server)
      throw new SidecarError('save state', new Error('the server of the store was replaced'))
    const held = writes.filter((write) => this.#holds(write))
    const { choosesEtags } = await this.store()
    if (choosesEtags && !writes.slice(0, needed).every((write) => held.includes(write))) throw lostRace()
    for (const { key, value } of held) this.set(key, JSON.parse(value), choosesEtags ? etag : undefined)
    if (held.length < writes.length) throw lostRace()
  }

  async remove(keys: string[]): Promise<void> {
    await this.#call('remove')
    for (const key of keys) this.documents.delete(key)
  }

  #holds({ key, guard }: Write): boolean {
    const etag = this.documents.get(key)?.etag
    if (!guard || guard === 'absent') return !guard || etag === undefined
    // Dapr writes a document of MongoDB although it no longer exists (components-contrib 1.18.3, `UpdateOne` with `SetUpsert`).
    return etag === guard.etag || (etag === undefined && this.#storeType === 'state.mongodb')
  }

  async store(): Promise<Store> {
    return { type: this.#storeType, choosesEtags: this.#storeType === 'state.postgresql' }
  }

  async storeServer(): Promise<string | undefined> {
    return this.#storeType === 'state.postgresql' ? this.server : undefined
  }

  requireServer(server: string | undefined): void {
    this.#required = server
  }

  fault = async (): Promise<string | undefined> => undefined
  storeFault = async (): Promise<string | undefined> => undefined

  /** Writes a document and the fence, like a transaction of another replica. */
  writeElsewhere(key: string, value: unknown): void {
    this.set(key, value)
    this.set('fence', crypto.randomUUID())
  }

  chunkKeys(): string[] {
    return [...this.documents.keys()].filter((key) => /^list\/\d+\/\d+$/.test(key))
  }

  set(key: string, value: unknown, etag?: string): void {
    this.#version += 1
    this.documents.set(key, { value, etag: etag ?? String(this.#version) })
  }

  async #call(name: keyof FakeSidecar['calls']): Promise<void> {
    this.calls[name] += 1
    await new Promise((resolve) => setImmediate(resolve))
    const failure = this.failures[name].shift()
    if (failure) throw failure
  }
}

const lostRace = () => new SidecarError('write state', new Error('possible etag mismatch'), 'conflict')
