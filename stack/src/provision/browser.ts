import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { aptGetInstall, canAptGet } from './apt.ts'
import type { ProvisionOptions } from './options.ts'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const applications = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** The Chromium that page tests drive: CHROMIUM_PATH, else one of PATH, else an application of macOS. */
export function findBrowser(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (env.CHROMIUM_PATH) return existsSync(env.CHROMIUM_PATH) ? env.CHROMIUM_PATH : undefined
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean)
  const candidates = [...folders.flatMap((folder) => names.map((name) => join(folder, name))), ...applications]
  return candidates.find((candidate) => existsSync(candidate))
}

/** A line when there is no browser and we cannot install one: that takes root and apt-get. */
export function missingBrowser(env: NodeJS.ProcessEnv = process.env): string[] {
  if (findBrowser(env) || (!env.CHROMIUM_PATH && canAptGet())) return []
  const found = env.CHROMIUM_PATH ? `CHROMIUM_PATH is ${env.CHROMIUM_PATH}, which does not exist` : 'not found'
  const install = 'install with apt-get install chromium or brew install --cask chromium, or set CHROMIUM_PATH to it'
  return [`needs Chromium or Chrome for the page tests: ${found}; ${install}`]
}

/** Installs Debian's Chromium when there is no browser. */
export async function provisionBrowser({ onProgress, signal }: ProvisionOptions): Promise<void> {
  if (findBrowser()) return
  onProgress('chromium: installing with apt-get')
  await aptGetInstall(['chromium'], signal)
}
