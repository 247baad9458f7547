# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Pickles of a version whose graphs were in `spanwise._graph` and kernels in `spanwise._kernels`."""

import base64
import pickle
import zlib

import numpy as np

import spanwise as sw

# A function of an In of dvector x with the value [1, 2, 3], in Mode("fast_compile"). Its outputs are
# an OpFromGraph of T.sort(x) * 2, plus a shared variable w of ones; the last of a scan that sums x;
# T.repeat(x, [1, 0, 2]); and uniform numbers of RandomStreams(5). It updates w to w + 1.
FUNCTION = (
    "c-pO2O>Y}T7+%MYZQ`a;t15{=Lgj#D3y6YL5e`T#DiBpJTa;dqAhO20W6x~&OZ#Cb2r7CY!O}=bFdTYC;?O_9jRO"
    "ZjoVjqI`~fcg3B2>M>-E}hA`~CiGrKeI$MZh#$CtJ5|85!b$2Q{-`C}U6o!&4)A=wG3^}xlPUGBL7vU`Knw-Oro{"
    "5$>yZ?h`(V}8il_42jsTrUX4U(DIc9dW7iNZxCXP()E51QUa`lxXUQX#z*!&6;|X9ETWQu*Lwk$y+zL`4u-$`2lB"
    "@BfY5k$O9qQ*y;$mDF$2G`!}B{XZCLy*`lcym^HjKk$NYr-VdTE7>iY$MAS-Pbs4#CFz(sG*tbxea5L>ARtwTZc-"
    "ba(R=p=}RBn(K*m_CX3TKr0;#}^5AK1c!HhXanpeXRvlC##m@B`TH%UzDqdQ4D+H7*k6dcGv<WMdu{a!vjr)=<{S"
    "ldlSc+HJN~wjd6og!)5(_uXiCA2yk4RzpWL=3OK1!~H!3j}5j;{h}%pp2$puQjmSMEISA}YieLZ5yBVZw4Y!fbP5"
    "F^%*IE+iBArBEaeF!_sE^Dal*0GH|N}pMsk-mz0^%;=pKW>T*RkB0Kl)=Y60^S<R>x&&CE#7)+5|cscZL86rp4B^"
    "|oe+ajQVLj>)Q4nDU8KYwDd?pJ^i|<F28C0a0_Q4~!#QY&98EOJozk1kj9d6j2+?;5KYLK;RNbsepYGoezd8vh5-"
    "Qry2oGOT{7KAsM!BZz~_4-7NnXobFaZQ_*i$8FRHa7rU-Lmi_-h`A=S&fQ@laq!M{0&l}B3a9|Zogf!1x$UN7C>s"
    "A&kP?s0es<NB2iu@$-n3337B5py3SV$BwNQnEenx=;vz)SKwtKAJGyStS`{xu@6Y43JG+ph3$CP_QR6kYVmluu0F"
    "R!O@!yidtrr2uqFv_Rxv%{=lMP|hTui+c~rL!9<c`6Dipx=ntQG}$D!<V8k)<6_AFyx6R~@n#+zXQg5o)A%fP2|H"
    "KhLCq)f<3cX6?Q;A)B<eb(7rSzRLyQt^e-y-2H6$5L(5n#Gt{Ahwl^l_bh~>N}LUMMETn@-g4cv5I*O;7LVw`u*g"
    "UZWgR3hZt(0icgVdMceYX|bhdl4E>n@{Zlm<Mb~eL4st56rb?H=Y`lC2n^`Bq(%EXc(*}ltDho684Qk_K%+{?CCH"
    "6{5jsc{-lU7^s{ssw1s*zKa%L023-dyJzX_>X=p=y!2#!EKt(5z^FFK()hi_M*qG5dTL_A13#Sy^5UFYeT~f-3Pd"
    "Qde=6E^wCkMO#Q?^4vh!(jkB`$AmN@3-M&!+55={|SLPEB}zH*vnzWW0zvQN+}7KyU_WM&~DUbjB0703?*LRU_Er"
    "<+btgML@HppCRYhX}}d3oB$q>r>s7tBP{1&=<oo|28_L_pT^nj2B{JuId{};JQDriWHnDrhA>dpK2#&3&f6_^X#j"
    "&KOfFtX#oWCHGAuW>#iZ7O9X`r;X`eO1C>T&V&NkKPI<!D~D}>yJttC=ol1@&*>Ye`pb|-op"
)
# default_rng(7) after four numbers.
GENERATOR = (
    "c-m`VnYx+*0(xYM3lj6nGmBI8;`2&#3o7-B67y2>bK{Fk5=&C2^l-)(r52au7p105nLMS3AFddp3MlWMnwMIX2vh"
    "--ubraN!<&>@5}yti?BNZ_$jr&FFsU#$(ls=g(!)}m3N$NriZ^>=4=2#L^1S%$)JmX04@W_Mab`(oe%=&srXG%Dp"
    "th8vR3L|;)USO?&=frYXmCZX"
)
# The kernel scale(float* x, float a, int n) of a SourceModule for the CPU.
KERNEL = (
    "c-k$EF>k^!6oir5ZrxZq-WUgzKS0^KbYWnvkY#LBo?_xCPN*e>#8y@E#^e9-Q<^5d>Arh+dY8xBeKIP&gj!W!6l@"
    "_&+f>$tq9$EB%jsD<ugrhUSKd$3bc}-U8g1plo31ZjIZIK>Pv^JFNr|H;gP@hO*{-j*IpQ3HgPMb?7L~whFoY$x&"
    "g=5s#3CXe;f)SG%+T%|tITj(fOg0TuYcS4K^x>ts0Gd}gh&s%?)XQnT3&N{8ea42yNBWzY%o$S"
)


def load(text):
    return pickle.loads(zlib.decompress(base64.b85decode(text)))


def test_function_of_an_earlier_version_is_loaded():
    f = load(FUNCTION)
    first, second = f(), f([3.0, 1.0, 2.0])
    np.testing.assert_array_equal(first[0], [3, 5, 7])
    np.testing.assert_array_equal(second[0], [4, 6, 8])
    assert first[1] == 6
    np.testing.assert_array_equal(second[2], [3, 2, 2])
    assert first[3].shape == (2,) and not np.array_equal(first[3], second[3])


def test_generator_of_an_earlier_version_is_loaded():
    expected = sw.random.default_rng(7).random(8).numpy()
    np.testing.assert_array_equal(load(GENERATOR).random(4), expected[4:])


def test_kernel_of_an_earlier_version_is_loaded():
    x = sw.asarray(np.float32([1, 2]), device="cpu")
    load(KERNEL)(x, 3, 2, grid=1, block=2)
    np.testing.assert_array_equal(x, [3, 6])
