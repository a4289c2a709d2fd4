// `make -C tools pictures FILM=1` follows docs/first-order.md as its reader, and makes its film.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CliError, reportError, repository } from '@orderflow/stack/base'
import { type BrowserReader, createBrowserReader } from '@orderflow/test/browser-reader'
import { type Step, stepsOf } from '@orderflow/test/document'
import { copyRepository } from '@orderflow/test/repository-copy'
import { record } from '../recording.ts'
import { encode, requireEncoder, writePicture } from './encode.ts'
import { createStage, type Frame, type Stage, viewport } from './stage.ts'

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
      const heading = section.slice(0, section.indexOf('\n'))
      console.log(heading)
      for (const step of stepsOf(section)) {
        stage.caption(step.do === 'browse' ? step.sentence.text : heading)
        await show(step, { copy, stage, reader })
      }
    }
    encode(stage.frames, join(documents, 'pictures/first-order.mp4'))
    writePicture(poster(stage.frames), join(documents, 'pictures/first-order-film.webp'))
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

/** Returns the frame that viewers see longest. */
function poster(frames: readonly Frame[]): Frame {
  return frames.reduce((longest, frame) => (frame.ms > longest.ms ? frame : longest))
}

async function show(step: Step, { copy, stage, reader }: Place): Promise<void> {
  if (step.do === 'write') {
    copy.write(step.path, step.text)
    await stage.terminal(await record([`cat ${step.path}`], copy.folder))
  } else if (step.do === 'run') {
    await stage.terminal(await record(step.script.trimEnd().split('\n'), copy.folder))
  } else if (step.do === 'browse') {
    for (const instruction of step.sentence.instructions) await reader.follow(instruction)
    await stage.browser(reader.page)
  }
  // The film has already shown the page and the answer.
  else if (step.do !== 'look' && step.do !== 'see')
    throw new CliError('usage', `a film cannot show this step: ${JSON.stringify(step)}`)
}
