// Structured output with zod.
import assert from 'node:assert/strict';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { TEXT, client, messages } from './common.mjs';

const Note = z.object({ text: z.string(), items: z.array(z.string()) });
const Save = z.object({ text: z.string(), count: z.number() });
const wanted = { text: TEXT, items: [TEXT, 'x'] };
const response_format = zodResponseFormat(Note, 'note');

for (const knobs of ['', ';ascii=1']) {
  const parsed = await client.chat.completions.parse({ model: `echo${knobs}`, messages, response_format });
  assert.deepEqual(parsed.choices[0].message.parsed, wanted);
  const streamed = client.chat.completions.stream({ model: `echo;chunk=2${knobs}`, messages, response_format });
  assert.deepEqual((await streamed.finalChatCompletion()).choices[0].message.parsed, wanted);
}

const tools = [zodFunction({ name: 'save', parameters: Save })];
const called = await client.chat.completions.parse({ model: 'echo', messages, tools });
assert.deepEqual(called.choices[0].message.tool_calls[0].function.parsed_arguments, { text: TEXT, count: 1 });
