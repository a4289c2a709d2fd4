/** Whoever asks whether a service is ready waits for a few seconds only. */
export const readyTimeoutMs = 2_000

/** What of the sidecar itself is not ready, in words; undefined when all is. */
export async function sidecarFault(sidecar: { Host: string; HttpPort: number }): Promise<string | undefined> {
  try {
    const url = `http://${sidecar.Host}:${sidecar.HttpPort}/v1.0/healthz`
    const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(readyTimeoutMs) })
    return ok ? undefined : `its health answers ${status}`
  } catch {
    return 'does not answer'
  }
}
