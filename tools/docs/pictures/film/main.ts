// `make -C tools film` follows docs/first-order.md as its reader, makes its film, and takes its pictures.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CliError, reportError, repository } from '@orderflow/cli'
import { pictureOf } from '@orderflow/event-monitor/screenshots'
import { type BrowserReader, createBrowserReader } from '@orderflow/test/browser-reader'
import { type Picture, partsOf, type Step } from '@orderflow/test/document'
import { copyRepository } from '@orderflow/test/repository-copy'
import { record } from '../recording.ts'
import { encode, requireEncoder } from './encode.ts'
import { createStage, type Stage, viewport } from './stage.ts'

const documents = join(repository, 'docs')

try {
  requireEncoder()
  await main()
} catch (error) {
  reportError(error)
}

async function main(): Promise<void> {
  // The commands of the document choose no kind of stack.
  process.env.STACK = 'local'
  const copy = copyRepository()
  const stage = await createStage()
  const reader = await createBrowserReader({
    context: { viewport, reducedMotion: 'reduce' },
    onTarget: async (target) => {
      await target.scrollIntoViewIfNeeded()
      await stage.pointAt(target)
    },
    onSeen: async (text) => {
      await text.evaluate((element) => element.scrollIntoView({ block: 'center' }))
      stage.mark(text)
    },
  })
  try {
    const [, ...sections] = readFileSync(join(documents, 'first-order.md'), 'utf8').split(/^## /m)
    for (const section of sections) {
      say(section.slice(0, section.indexOf('\n')), stage)
      for (const part of partsOf(section)) await show(part, { copy, stage, reader })
    }
    encode(stage.frames, join(documents, 'pictures/first-order.mp4'))
  } finally {
    await Promise.all([reader.close(), stage.close()])
    await copy.run('make', ['down'])
    copy.remove()
  }
}

interface Place {
  copy: ReturnType<typeof copyRepository>
  stage: Stage
  reader: BrowserReader
}

function say(text: string, stage: Stage): void {
  console.log(text)
  stage.caption(text)
}

async function show(part: Step | Picture, { copy, stage, reader }: Place): Promise<void> {
  if (part.do === 'write') {
    copy.write(part.path, part.text)
    await stage.terminal(await record([`cat ${part.path}`], copy.folder))
  } else if (part.do === 'run') {
    await stage.terminal(await record(part.script.trimEnd().split('\n'), copy.folder))
  } else if (part.do === 'browse') {
    say(part.sentence.text, stage)
    for (const instruction of part.sentence.instructions) await reader.follow(instruction)
    await stage.browser(reader.page)
  } else if (part.do === 'look') await takePictures(part.picture, reader)
  // The film has already shown the answer.
  else if (part.do !== 'see') throw new CliError('usage', `a film cannot show this step: ${JSON.stringify(part)}`)
}

/** Takes the picture; if its name contains `light`, in both colour schemes. */
async function takePictures(picture: string, { page, operation }: BrowserReader): Promise<void> {
  const schemes = picture.includes('-light.') ? (['light', 'dark'] as const) : (['light'] as const)
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme })
    const file = join(documents, picture.replace('-light.', `-${colorScheme}.`))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, await pictureOf(page, operation()?.locator('.live-responses-table')))
  }
  await page.emulateMedia({ colorScheme: 'light' })
}
