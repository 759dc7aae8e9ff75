// What becomes of a prompt: texts, images, folders, and what is said of the rest.
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { describedPart } from '../../../server/src/prompt/describe.ts';
import { expanded } from '../../../server/src/prompt/expand.ts';
import { imageKind, imageLimit } from '../../../server/src/prompt/image.ts';
import { imagesLimit, type PlanContext, planOf, textsLimit } from '../../../server/src/prompt/plan.ts';
import { blockLimit } from '../../../server/src/prompt/reference.ts';
import { folderWith, placeOf, png } from './support.ts';

const sent = async (text: string, context: PlanContext) => expanded(text, await planOf(text, context));
const context = (folder: string, more: Partial<PlanContext> = {}): PlanContext => ({
  place: placeOf([folder]),
  commands: [],
  ...more,
});

describe('texts', () => {
  it('are added below what was written, once each, with lines as they were named', async () => {
    const folder = folderWith({ 'src/ä b.ts': 'one\r\ntwo\r\nthree\r\n', 'x.py': 'print(1)\n' });
    const text = 'Compare @"src/ä b.ts":2-3 with @x.py, and @x.py again.';
    expect(await sent(text, context(folder))).toEqual({
      message: `${text}\n\n\`src/ä b.ts:2-3\`\n\`\`\`ts\ntwo\nthree\n\`\`\`\n\n\`x.py\`\n\`\`\`py\nprint(1)\n\`\`\``,
      images: [],
      problems: [],
    });
  });

  it('are those of the editor, and say when they are not saved', async () => {
    const folder = folderWith({ 'a.ts': 'old\n', 'b.ts': 'same\n' });
    const place = placeOf(
      [folder],
      [
        { file: path.join(folder, 'a.ts'), name: 'a.ts', languageId: 'typescript', text: 'new\r\n' },
        { file: path.join(folder, 'b.ts'), name: 'b.ts', languageId: 'typescript', text: 'same\r\n' },
        { name: 'Untitled-1', languageId: 'plaintext', text: 'draft' },
      ],
    );
    const { message } = await sent('@a.ts @b.ts #Untitled-1', context(folder, { place }));
    expect(message).toContain('`a.ts` (unsaved)\n```typescript\nnew\n```');
    expect(message).toContain('`b.ts`\n```typescript\nsame\n```');
    expect(message).toContain('```plaintext\ndraft\n```');
  });

  it('are found in every folder of the workspace, and through links', async () => {
    const one = folderWith({ 'a.ts': '1' });
    const two = folderWith({ 'b.ts': '2' });
    symlinkSync(path.join(two, 'b.ts'), path.join(one, 'linked.ts'));
    const place = placeOf([one, two]);
    const name = path.basename(two);
    const { message } = await sent(`@b.ts @"${name}/b.ts" @linked.ts`, context(one, { place }));
    expect(message.match(/```ts\n2\n```/g)).toHaveLength(2);
    expect(message).toContain(`\`${name}/b.ts\``);
  });

  it('are cut where they are long, and left out where they are too many', async () => {
    const folder = folderWith({
      'long.txt': 'line of text\n'.repeat(20_000),
      ...Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`n${n}.txt`, `${n}`.repeat(60_000)])),
    });
    const plan = await planOf('@long.txt', context(folder));
    expect(plan.parts[0]!.problem).toMatchObject({ level: 'information' });
    const { message, problems } = await expanded('@long.txt', plan);
    expect(message.length).toBeLessThan(blockLimit + 500);
    expect(message).toContain('(the first ');
    expect(problems).toEqual([]);
    const many = await sent(Array.from({ length: 9 }, (_, n) => `@n${n}.txt`).join(' '), context(folder));
    expect(many.message.length).toBeLessThan(textsLimit + 2000);
    expect(many.problems).toHaveLength(3);
  });

  it('of symbols are the lines that declare them', async () => {
    const text = 'import x\n\nexport function first() {\n  return 1;\n}\n\nclass Second {\n  go() {}\n}\n';
    const folder = folderWith({ 'a.ts': text });
    const place = placeOf(
      [folder],
      [{ file: path.join(folder, 'a.ts'), name: 'a.ts', languageId: 'typescript', text }],
    );
    const { message } = await sent('#a.ts:second', context(folder, { place }));
    expect(message).toContain('`a.ts:7-9`\n```typescript\nclass Second {\n  go() {}\n}\n```');
  });
});

describe('what is no text', () => {
  it('images are attached, by their bytes and not by their names', async () => {
    const folder = folderWith({ 'shot.png': png(640, 480), 'really.txt': png(), 'fake.png': 'no image' });
    const { message, images } = await sent('@shot.png @really.txt @fake.png', context(folder));
    expect(images).toEqual([
      { type: 'image', mimeType: 'image/png', data: png(640, 480).toString('base64') },
      { type: 'image', mimeType: 'image/png', data: png().toString('base64') },
    ]);
    expect(message).toContain('`shot.png`: image 1');
    expect(message).toContain('`fake.png`\n```png\nno image\n```');
  });

  it('folders are listed', async () => {
    const folder = folderWith({ 'src/a.ts': '', 'src/deep/b.ts': '', 'src/.git/x': '' });
    expect((await sent('@src/', context(folder))).message).toBe('@src/\n\n`src/`\n```\na.ts\ndeep/\n```');
  });

  it.each([
    ['@nowhere.ts', 'There is no file nowhere.ts', 'warning'],
    ['@somebody', 'There is no file somebody', 'information'],
    ['@a.ts:9', 'a.ts has 1 line', 'warning'],
    ['@a.ts:1-9', 'a.ts ends at line 1', 'information'],
    ['@a.bin', 'neither text nor an image', 'warning'],
    ['@/dev/null', 'it is no plain file', 'warning'],
    ['@big.png', 'models take images of 3.5 MB', 'warning'],
    ['#closed.ts', 'No open document is called closed.ts', 'warning'],
    ['#a.ts:nothing', 'declares nothing', 'warning'],
    ['/unknown', 'no command /unknown', 'warning'],
    ['/settings', 'belongs to the agent’s own terminal', 'error'],
  ])('%s is said to be wrong', async (text, sentence, level) => {
    const folder = folderWith({
      'a.ts': 'x\n',
      'a.bin': Buffer.from([1, 0, 2]),
      'big.png': png(1, 1, imageLimit + 1),
    });
    const place = placeOf(
      [folder],
      [{ file: path.join(folder, 'a.ts'), name: 'a.ts', languageId: '', text: 'x\n' }],
    );
    const plan = await planOf(text, context(folder, { place }));
    const problem = plan.command?.problem ?? plan.parts[0]?.problem;
    expect(problem).toMatchObject({ level, sentence: expect.stringContaining(sentence) });
    expect((await expanded(text, plan)).message.startsWith(text)).toBe(true);
  });

  it.each(['#12 and #heading', 'no mention at all'])('%s is nothing to speak of', async (text) => {
    const plan = await planOf(text, context(folderWith()));
    expect(plan.parts.every(({ problem }) => problem === undefined)).toBe(true);
    expect((await expanded(text, plan)).message).toBe(text);
  });

  it('a model that sees no images is named', async () => {
    const folder = folderWith({ 'shot.png': png() });
    const plan = await planOf('@shot.png', context(folder, { blindModel: 'Blind 1' }));
    expect(plan.parts[0]!.problem!.sentence).toContain('Blind 1 sees no images');
  });

  it('more images than a prompt carries are named', async () => {
    const names = Array.from({ length: imagesLimit + 1 }, (_, n) => `i${n}.png`);
    const folder = folderWith(Object.fromEntries(names.map((name, n) => [name, png(n + 1)])));
    const { images, problems } = await sent(names.map((name) => `@${name}`).join(' '), context(folder));
    expect(images).toHaveLength(imagesLimit);
    expect(problems).toHaveLength(1);
  });
});

describe('commands', () => {
  const commands = [
    { name: 'review', source: 'prompt' },
    { name: 'skill:pdf', source: 'skill' },
    { name: 'do', source: 'extension' },
  ];
  it('take names where a text would be torn apart, and images where they reach the model', async () => {
    const folder = folderWith({ 'a.ts': 'x', 'i.png': png() });
    const all = context(folder, { commands });
    expect(await sent('/review @a.ts @i.png', all)).toMatchObject({
      message: '/review @a.ts @i.png',
      images: [{}],
    });
    expect(await sent('/do @a.ts @i.png', all)).toMatchObject({ message: '/do @a.ts @i.png', images: [] });
    expect(await sent('/name @a.ts', all)).toMatchObject({ message: '/name @a.ts' });
    expect((await sent('/skill:pdf @a.ts', all)).message).toContain('```ts\nx\n```');
    expect((await sent('/other @a.ts', all)).message).toContain('```ts\nx\n```');
  });
});

describe('imageKind', () => {
  const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');
  it.each([
    [png(7, 9), { mimeType: 'image/png', width: 7, height: 9 }],
    [Buffer.from('GIF89a\x05\0\x06\0', 'latin1'), { mimeType: 'image/gif', width: 5, height: 6 }],
    [
      bytes('ffd8 ffe0 0004 0000 ffc0 0011 08 0010 0020 03 00 00'),
      { mimeType: 'image/jpeg', width: 32, height: 16 },
    ],
    [
      Buffer.concat([
        Buffer.from('RIFF\0\0\0\0WEBPVP8X', 'latin1'),
        bytes('0a000000 00000000 630000 310000'),
      ]),
      { mimeType: 'image/webp', width: 100, height: 50 },
    ],
    [Buffer.from('BM not for models'), undefined],
    [Buffer.alloc(0), undefined],
  ])('%#', (head, kind) => {
    expect(imageKind(head)).toEqual(kind);
  });
});

it('what is described is short, and says what is sent', async () => {
  const folder = folderWith({ 'a.md': '```\nx\n```\n'.repeat(50), 'i.png': png(640, 480) });
  const { parts } = await planOf('@a.md:2-99 @i.png @./', context(folder));
  const [text, image, list] = parts.map(describedPart);
  expect(text).toContain('**a.md**: lines 2–99 of 150');
  expect(text).toContain('````md\nx\n');
  expect(text!.split('\n').length).toBeLessThan(20);
  expect(image).toMatch(/image\/png, 640 × 480 pixels, \d+ bytes, is sent as an image/);
  expect(list).toContain('the names of 2 entries are sent');
});
