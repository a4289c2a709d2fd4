import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CliError } from '@orderflow/stack/base'
import type { Frame } from './stage.ts'

/** @throws {CliError} if this machine has no ffmpeg */
export function requireEncoder(): void {
  try {
    execFileSync('ffmpeg', ['-version'], { stdio: 'ignore' })
  } catch {
    throw new CliError('usage', 'a film needs ffmpeg', { nextStep: 'install it, on Debian: apt-get install ffmpeg' })
  }
}

/** Writes a frame of a film in WebP. */
export function writePicture({ png }: Frame, file: string): void {
  execFileSync('ffmpeg', ['-y', '-loglevel', 'error', '-i', '-', '-quality', '80', file], { input: png })
}

/** Writes a film in MP4, which all browsers can play. */
export function encode(frames: readonly Frame[], file: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'orderflow-film-'))
  try {
    const pictures = frames.map(({ png }, index) => {
      const picture = join(folder, `${index}.png`)
      writeFileSync(picture, png)
      return picture
    })
    const entries = frames.map(({ ms }, index) => `file ${pictures[index]}\nduration ${(ms / 1000).toFixed(3)}\n`)
    // ffmpeg ignores the duration of the last entry.
    const list = join(folder, 'frames.txt')
    writeFileSync(list, `${entries.join('')}file ${pictures.at(-1)}\n`)
    const input = ['-f', 'concat', '-safe', '0', '-i', list]
    const output = [
      '-fps_mode',
      'vfr',
      '-c:v',
      'libx264',
      '-preset',
      'veryslow',
      '-tune',
      'animation',
      '-crf',
      '26',
      '-pix_fmt',
      'yuv420p',
    ]
    execFileSync('ffmpeg', ['-y', '-loglevel', 'error', ...input, ...output, '-movflags', '+faststart', file])
  } finally {
    rmSync(folder, { recursive: true })
  }
}
