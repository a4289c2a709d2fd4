import { eventually } from '@orderflow/stack'

const restMs = 1_500

/** What there is once nothing has changed it for a while. */
export function settled<T>(find: () => Promise<T>): Promise<T> {
  let last = ''
  let since = Date.now()
  return eventually(async () => {
    const found = await find()
    const now = JSON.stringify(found)
    if (now !== last) since = Date.now()
    last = now
    return Date.now() - since > restMs ? found : undefined
  }, 'the stores to come to rest')
}
