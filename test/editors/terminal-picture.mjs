#!/usr/bin/env node
// Draws what `Terminal.ansi()` gives as a picture: node test/editors/terminal-picture.mjs CAPTURE.ansi|- OUT.svg|OUT.png [TITLE]
// For looking at what a person sees, while developing; a PNG needs rsvg-convert (package librsvg2-bin). Guarantees the place of
// every cell, whatever font draws it. Must not know which program was in the terminal.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';

const cell = { width: 9, height: 19, baseline: 14, font: 15 };
const margin = 12;
const paper = '#16181d';
const ink = '#d8dee9';
const palette =
  '#3b4252 #d9626c #8fbf75 #e3c078 #6f9fd8 #b98acb #72bcc4 #d8dee9 #69738a #ef8089 #a9d68f #f2d492 #8fb8ea #d0a5e0 #90d3da #ffffff'.split(
    ' ',
  );

const hex = (...parts) => `#${parts.map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`;

/** A colour of the 256. */
function indexed(number) {
  if (number < 16) return palette[number];
  if (number >= 232) return hex(...Array(3).fill(8 + 10 * (number - 232)));
  const level = (place) => {
    const step = Math.floor((number - 16) / place) % 6;
    return step === 0 ? 0 : 55 + 40 * step;
  };
  return hex(level(36), level(6), level(1));
}

/** How many cells a character takes. */
function cells(character) {
  if (/[\p{Mn}\p{Me}\p{Cf}]/u.test(character)) return 0;
  return /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u.test(
    character,
  )
    ? 2
    : 1;
}

const switches = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline', 7: 'inverse', 9: 'strike' };
const switchedOff = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  29: ['strike'],
};

/** The style after the parameters of one SGR sequence. */
function styled(before, parameters) {
  let style = { ...before };
  // `38:2::r:g:b` and `38;2;r;g;b` mean the same, and `4:3` is a kind of underline.
  const numbers = parameters.split(';').flatMap((part) => {
    const [first, ...more] = part.split(':');
    if (first === '4') return [more[0] === '0' ? 24 : 4];
    return [first, ...(more[0] === '2' && more.length > 4 ? [more[0], ...more.slice(2)] : more)].map(Number);
  });
  while (numbers.length > 0) {
    const number = numbers.shift();
    if (number === 0) style = {};
    else if (switches[number]) style[switches[number]] = true;
    else if (switchedOff[number]) for (const name of switchedOff[number]) delete style[name];
    else if (number === 38 || number === 48 || number === 58) {
      const kind = numbers.shift();
      const colour = kind === 5 ? indexed(numbers.shift()) : hex(...numbers.splice(0, 3));
      if (number !== 58) style[number === 38 ? 'fore' : 'back'] = colour;
    } else if (number === 39) delete style.fore;
    else if (number === 49) delete style.back;
    else if (number >= 30 && number <= 37) style.fore = palette[number - 30];
    else if (number >= 90 && number <= 97) style.fore = palette[number - 82];
    else if (number >= 40 && number <= 47) style.back = palette[number - 40];
    else if (number >= 100 && number <= 107) style.back = palette[number - 92];
  }
  return style;
}

/** The lines of a capture, each a list of runs {text, column, width, style}. */
function runsOf(capture) {
  const token =
    /\x1b\[([\d;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[^@-~]*[@-~]|\x1b.|[\x00-\x1f]|./gsu;
  let style = {};
  return capture.split('\n').map((line) => {
    const runs = [];
    let column = 0;
    for (const [text, parameters] of line.matchAll(token)) {
      if (parameters !== undefined) style = styled(style, parameters);
      if (/^[\x00-\x1f]/.test(text)) continue;
      const width = cells(text);
      const last = runs.at(-1);
      const joins = last && (width === 0 || (last.style === style && width === 1 && last.narrow));
      if (joins) {
        last.text += text;
        last.width += width;
      } else runs.push({ text, column, width, style, narrow: width === 1 });
      column += width;
    }
    return runs;
  });
}

const escaped = (text) => text.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);

/** An SVG of a capture. */
export function pictureOf(capture, title = '') {
  const lines = runsOf(capture.replace(/\n+$/, ''));
  const columns = Math.max(
    40,
    ...lines.map((runs) => (runs.at(-1)?.column ?? 0) + (runs.at(-1)?.width ?? 0)),
  );
  const top = margin + (title ? 22 : 0);
  const width = 2 * margin + columns * cell.width;
  const height = top + lines.length * cell.height + margin;
  const back = [];
  const front = [];
  for (const [row, runs] of lines.entries()) {
    for (const { text, column, width: taken, style } of runs) {
      const [fore, ground] = style.inverse
        ? [style.back ?? paper, style.fore ?? ink]
        : [style.fore ?? ink, style.back];
      const x = margin + column * cell.width;
      const y = top + row * cell.height;
      if (ground)
        back.push(
          `<rect x="${x}" y="${y}" width="${taken * cell.width}" height="${cell.height}" fill="${ground}"/>`,
        );
      if (text.trim() === '' && !style.underline && !style.strike) continue;
      const line = [style.underline && 'underline', style.strike && 'line-through'].filter(Boolean).join(' ');
      const more = [
        style.bold && 'font-weight="bold"',
        style.italic && 'font-style="italic"',
        style.dim && 'opacity="0.6"',
        line && `text-decoration="${line}"`,
      ].filter(Boolean);
      // No-break spaces, because a renderer may fold the others.
      front.push(
        `<text x="${x}" y="${y + cell.baseline}" fill="${fore}" textLength="${taken * cell.width}" ${more.join(' ')}>${escaped(text).replaceAll(' ', '\u00a0')}</text>`,
      );
    }
  }
  const heading = title
    ? `<text x="${width / 2}" y="${margin + 10}" fill="#9aa3b5" text-anchor="middle" font-size="12">${escaped(title)}</text>`
    : '';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="DejaVu Sans Mono, monospace" font-size="${cell.font}">
<rect width="100%" height="100%" rx="6" fill="${paper}"/>
<g shape-rendering="crispEdges">${back.join('\n')}</g>
${heading}
${front.join('\n')}
</svg>
`;
}

/** Writes the picture of a capture as SVG or PNG, by the name of the file. */
export function drawPicture(capture, file, title) {
  const svg = pictureOf(capture, title);
  if (file.endsWith('.svg')) return fs.writeFileSync(file, svg);
  execFileSync('rsvg-convert', ['-o', file], { input: svg });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [source, file, title] = process.argv.slice(2);
  if (file === undefined) {
    console.error('usage: terminal-picture.mjs CAPTURE.ansi|- OUT.svg|OUT.png [TITLE]');
    process.exit(2);
  }
  drawPicture(fs.readFileSync(source === '-' ? 0 : source, 'utf8'), file, title);
}
