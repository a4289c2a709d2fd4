import { startProvider } from './provider.ts'

/** Starts a simulated provider as a program. Its settings come from the environment. */
const { PROVIDER_PORT = '5030', PROVIDER_SECRET, PROVIDER_FILE, PROVIDER_SEED = '1' } = process.env
const { PROVIDER_WEBHOOKS, PROVIDER_WEBHOOK_SECRET, PROVIDER_SWITCHES = '{}' } = process.env
const provider = await startProvider({
  port: Number(PROVIDER_PORT),
  seed: Number(PROVIDER_SEED),
  switches: JSON.parse(PROVIDER_SWITCHES),
  ...(PROVIDER_SECRET && { secret: PROVIDER_SECRET }),
  ...(PROVIDER_FILE && { file: PROVIDER_FILE }),
  ...(PROVIDER_WEBHOOKS && { webhooks: { url: PROVIDER_WEBHOOKS, secret: PROVIDER_WEBHOOK_SECRET ?? '' } }),
})
console.log(`the simulated provider listens at ${provider.url}`)
process.once('SIGTERM', () => provider.stop())
