// Images by their first bytes. Guarantees: pure; only formats that models take; a wrong file name deceives nobody. Must not know:
// files.

export interface ImageKind {
  mimeType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  /** Pixels, where the beginning tells. */
  width?: number;
  height?: number;
}

/** Bytes from the beginning that are looked at. */
export const imageHead = 65_536;
/** Bytes of an image that models take: some refuse more than 5 MiB of base64. */
export const imageLimit = 3_500_000;

/** The kind of image that begins so; undefined for anything else. */
export function imageKind(head: Buffer): ImageKind | undefined {
  const ascii = (from: number, to: number) => head.toString('latin1', from, to);
  if (ascii(0, 8) === '\x89PNG\r\n\x1a\n' && ascii(12, 16) === 'IHDR' && head.length >= 24)
    return { mimeType: 'image/png', width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
  if (/^GIF8[79]a$/.test(ascii(0, 6)))
    return {
      mimeType: 'image/gif',
      ...(head.length >= 10 && { width: head.readUInt16LE(6), height: head.readUInt16LE(8) }),
    };
  if (ascii(0, 4) === 'RIFF' && ascii(8, 12) === 'WEBP') return { mimeType: 'image/webp', ...webpSize(head) };
  if (ascii(0, 3) === '\xff\xd8\xff' && head[3] !== 0xf7)
    return { mimeType: 'image/jpeg', ...jpegSize(head) };
  return undefined;
}

type Size = Pick<ImageKind, 'width' | 'height'>;

/** The three forms of the first chunk of WebP. */
function webpSize(head: Buffer): Size {
  if (head.length < 30) return {};
  const form = head.toString('latin1', 12, 16);
  if (form === 'VP8X') return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
  if (form === 'VP8 ')
    return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
  if (form !== 'VP8L') return {};
  const bits = head.readUInt32LE(21);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

/** The first frame header of a JPEG. */
function jpegSize(head: Buffer): Size {
  for (let at = 2; at + 9 < head.length; ) {
    if (head[at] !== 0xff) return {};
    const marker = head[at + 1]!;
    if (marker === 0xff) at += 1;
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { width: head.readUInt16BE(at + 7), height: head.readUInt16BE(at + 5) };
    else at += 2 + head.readUInt16BE(at + 2);
  }
  return {};
}
