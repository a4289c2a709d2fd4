import { provisionTools } from '@orderflow/stack/internals'
import type { BenchStack } from '../support/bench-stack.ts'
import { type Link, linkTo, linkTool } from '../support/link.ts'

export type DelayProxy = Pick<Link, 'address' | 'setRoundTrip'>

/** Starts a proxy to `upstream` (`host:port`). The proxy ends with the stack. */
export async function startDelayProxy(
  stack: BenchStack,
  upstream: string,
  tell: (line: string) => void,
): Promise<DelayProxy> {
  await provisionTools([linkTool], { onProgress: tell })
  const link = await linkTo(upstream, 'delay')
  stack.launch([link.spec])
  await stack.wait('the proxy that delays', [link.spec], () =>
    link.setRoundTrip(0).then(
      () => undefined,
      (error: Error) => error.message,
    ),
  )
  return link
}
