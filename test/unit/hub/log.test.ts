// The log: what may be in it, how large it gets, and that it harms nobody.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLog, redacted } from '../../../server/src/hub/log.ts';
import { testFolders } from './support.ts';

const folders = testFolders();

describe('what is written', () => {
  it('holds no secrets and nothing that people or models wrote', () => {
    const fields = {
      apiKey: 'abc',
      env: { ANTHROPIC_API_KEY: 'x', PATH: '/bin' },
      message: 'failed with sk-ant-REDACTED and Bearer abc.def',
      url: 'http://anna:hunter2@proxy:8080/',
      params: { text: 'my prompt', message: 'is kept', answers: ['yes'] },
      tokens: 12,
      secret: true,
      list: [{ password: 'p' }, 'ghp_0123456789abcdef0123'],
    };
    expect(redacted(fields)).toEqual({
      apiKey: '[redacted]',
      env: '[redacted]',
      message: 'failed with [secret] and [secret]',
      url: 'http[secret]proxy:8080/',
      params: { text: '[redacted]', message: 'is kept', answers: '[redacted]' },
      tokens: 12,
      secret: true,
      list: [{ password: '[redacted]' }, '[secret]'],
    });
  });
  it('shows errors, and is bounded in depth and length', () => {
    const error = redacted({ error: new Error('broke') }) as { error: { message: string; stack: string } };
    expect(error.error).toMatchObject({ name: 'Error', message: 'broke' });
    expect(error.error.stack).toContain('log.test.ts');
    const circle: Record<string, unknown> = { long: 'x'.repeat(10_000), many: Array(1000).fill(1) };
    circle.self = circle;
    expect(JSON.stringify(redacted(circle)).length).toBeLessThan(50_000);
  });
});

describe('the file', () => {
  it('is for its user alone and holds one JSON line for each entry', async () => {
    const folder = path.join(folders.make('state'), 'log');
    const { log, file, close } = openLog({ folder, name: 'hub' });
    log.info({ session: '1' }, 'opened');
    log.debug({}, 'not at this level');
    log.error({ error: new Error('broke') }, 'failed');
    await close();
    expect(fs.statSync(folder).mode & 0o777).toBe(0o700);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    const lines = fs.readFileSync(file, 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        level: 'info',
        session: '1',
        msg: 'opened',
        pid: process.pid,
        time: expect.stringMatching(/^\d{4}-/),
      },
      { level: 'error', msg: 'failed', error: { message: 'broke' } },
    ]);
  });
  it('is bounded however much is logged', async () => {
    const folder = folders.make('log');
    const { log, close } = openLog({ folder, name: 'hub', size: 10_000, keep: 2 });
    for (let i = 0; i < 2000; i += 1) {
      log.info({ i }, 'x'.repeat(100));
      if (i % 20 === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    await close();
    const files = fs.readdirSync(folder).sort();
    expect(files).toEqual(['hub.log', 'hub.log.1', 'hub.log.2']);
    for (const file of files) {
      const { size, mode } = fs.statSync(path.join(folder, file));
      expect([size < 20_000, mode & 0o777]).toEqual([true, 0o600]);
    }
  });
  it('may be impossible: then nothing is logged and nothing else happens', async () => {
    const blocked = path.join(folders.make('log'), 'file');
    fs.writeFileSync(blocked, '');
    const none = openLog({ folder: path.join(blocked, 'log'), name: 'hub' });
    none.log.info({}, 'lost');
    await none.close();
    const folder = folders.make('log');
    fs.mkdirSync(path.join(folder, 'hub.log'));
    const { log, close } = openLog({ folder, name: 'hub' });
    log.info({}, 'lost');
    await close();
    log.info({}, 'lost, too');
  });
  it.runIf(fs.existsSync('/dev/full'))('survives a full disk and goes on when there is room', async () => {
    const folder = folders.make('log');
    const file = path.join(folder, 'hub.log');
    fs.symlinkSync('/dev/full', file);
    const { log, close } = openLog({ folder, name: 'hub' });
    const turns = async () => {
      for (let i = 0; i < 200; i += 1) await new Promise<void>((resolve) => setImmediate(resolve));
    };
    log.info({}, 'lost');
    await turns();
    fs.unlinkSync(file);
    // One entry may go to what is left of the broken file.
    for (let i = 0; i < 50 && !(fs.existsSync(file) && fs.readFileSync(file, 'utf8')); i += 1) {
      log.info({}, 'room again');
      await turns();
    }
    await close();
    expect(fs.readFileSync(file, 'utf8')).toContain('room again');
  });
});
