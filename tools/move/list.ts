import { CliError, reportError } from '@orderflow/stack/base'

/** Runs `make -C tools move-list URL=...`. Prints all items of a list, one on each line, sorted. */
async function main({ URL: address = '', API_KEY }: NodeJS.ProcessEnv): Promise<void> {
  if (!/^https?:/.test(address) || !URL.canParse(address)) {
    throw new CliError('usage', address ? `${address} is not an address of a list` : 'URL is missing', {
      nextStep: 'make -C tools move-list URL=http://localhost:5000/v1/orders',
    })
  }
  const lines: string[] = []
  let cursor: string | null = ''
  do {
    const url = new URL(address)
    url.searchParams.set('limit', '100')
    if (cursor) url.searchParams.set('cursor', cursor)
    const response = await fetch(url, { headers: API_KEY ? { authorization: `Bearer ${API_KEY}` } : {} }).catch(
      (cause: Error) => {
        throw new CliError('unreachable', `${url.origin} is not reachable`, {
          nextStep: 'run make up and make status in the folder of the API',
          cause,
        })
      },
    )
    if (!response.ok) {
      const isDenied = [401, 403].includes(response.status)
      const nextStep = isDenied
        ? 'set API_KEY to a key that may read this list'
        : 'correct URL: it is the address of a list'
      throw new CliError('usage', `${url} answers ${response.status}`, { nextStep })
    }
    const page = (await response.json()) as { items: unknown[]; next: string | null }
    for (const item of page.items) lines.push(JSON.stringify(item))
    cursor = page.next
  } while (cursor)
  for (const line of lines.toSorted()) console.log(line)
}

await main(process.env).catch(reportError)
