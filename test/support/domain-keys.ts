/** Whether a key of a service's store holds something of its domain, and no list, claim or fence that a rebuild makes anew. */
export function isDomainKey(key: string): boolean {
  return !key.startsWith('list/') && !key.endsWith('/claim') && key !== 'fence'
}
