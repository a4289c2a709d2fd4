import { close, open } from 'node:inspector'

/** Opens the inspector for the tests of the calling suite, as `make dev INSPECT=1` does for services. */
export function openInspector(): void {
  before(() => open(0, '127.0.0.1'))
  after(() => close())
}
