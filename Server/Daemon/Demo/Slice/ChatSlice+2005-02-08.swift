extension ChatSlice {
    /// #ubuntu on 2005-02-08.
    static let day20050208 = #"""
        09:56=cowbud Agrajag: hrmm 2k4 worked pretty good in linpoop for me..
        09:57=topyli yeah windows is the best windows emulator
        09:57=cowbud Agrajag: let me guess ati card?
        09:57=Agrajag no
        09:57=Agrajag ti4200
        09:57=cowbud huh
        09:57=Agrajag Did you actually compare it to running in windos on the same machine?
        09:57=Quarupt can anyone help me write an ircd.conf
        09:57=Agrajag the directx renderer for the UT2 engine is much better than the GL one
        09:58=Scooter I just play games in linux for the iorny of it all
        09:58=cowbud haha
        09:58=cowbud Agrajag: if I get 60 frames or 120 it is still smooth enough to play but yes windows plays better I agree..
        09:58=Agrajag hahahah 60
        09:58=Agrajag I get 45 in windows
        09:59=Agrajag half that in linux
        09:59-jcapote
        09:59=cowbud bummer fro you :)
        09:59=Agrajag I can't even play lame old arcade games, gxmame doesn't seem to work in ubuntu
        09:59=Scooter <Agrajag> try ZNES and dgen 8)
        10:00=Agrajag uh
        10:00=Agrajag Those don't run the same games
        10:00=Agrajag and it's zsnes, not znes
        10:00=cowbud hahah
        10:00=Scooter snes and sega :p
        10:00=null_ any one have setup xinerama with nvidia twinview ?
        10:00=Agrajag yeah so
        10:00=Agrajag mame runs arcade games
        10:00=Agrajag not console
        10:00+vtg
        10:00=cowbud yah I never got mame to work but blah..
        10:00=Scooter can you get it to work with commandline?
        10:00+dave
        10:00=cowbud I was too lazy
        10:00=Agrajag hell if I know
        10:01=Agrajag and I don't want to find the right command line for each game
        10:01=Agrajag gxmame worked perfectly in gentoo
        10:01=Scooter 0o
        10:01=Agrajag but it's not in ubuntu's apt repositories
        10:01=cowbud Agrajag: even in universe?
        10:01=Agrajag and the .deb I found doesn't work right, I get a blank gamelist
        10:01=Agrajag not in universe, not in multiverse
        10:02=cowbud huh
        10:02=topyli Scooter: what is vitalinux?
        10:02=Agrajag yeah
        10:02=Agrajag maybe it'll be in hoary
        10:02=Scooter Vitalinux is  a live CD that lets you install GENTOO on your computer with Redhat Anaconda installer
        10:02+MeMa|Sorcerer
        10:03=Scooter stage 3 Gentoo
        10:03=MeMa|Sorcerer hi
        10:03=Agrajag so it's just like installing red hat, but it takes 100x as long?
        10:03=Agrajag oh
        10:03=Scooter hi 8)
        10:03=cowbud ahah
        10:03=Scooter it is precompiled imagees , stage 3 i think it is called
        10:04=Agrajag yes, I know
        10:04=Scooter I have never used it because i like Debian :)
        10:04=Agrajag I used gentoo for almost a year
        10:04=topyli Scooter: gentoo without the gentoo part (that is, compiling the system)
        10:04+Alessio
        10:04=Agrajag well, you still get to compile everything any time you update
        10:04+vtg
        10:04+shock
        10:05=Scooter yea, portage updates you and compiles i think...
        10:05=shock re @ uni =)
        10:06=topyli Agrajag: other distros have source packages too. you can always update from them :)
        10:06=Agrajag topyli: ew
        10:06=farruinn I don't get the fuss over gentoo, you can apt-get -b source anytime
        10:06=topyli heh
        10:06=Scooter can we install hoary from hoary live CD?
        10:06-PD
        10:06=Agrajag farruinn: well, it's a bit more complex than that, you get the whole USE flags system
        10:07=Agrajag but I got so damn sick of waiting for compiles to finish
        10:07=topyli Agrajag: it's better than using compiler options on debian?
        10:07=Agrajag and the thing about things running faster is complete BS in my opinion
        10:07=Agrajag topyli: it's not compiler options
        10:07=farruinn Agrajag: heh, I always wonder if the performance boost outweighs the wait time
        10:07=farruinn apparently not
        10:07=topyli Agrajag: oh. so what is it then?
        10:07=Agrajag it's deciding, per package or for the entire system, whether you want, for example, PNG support
        10:08=Agrajag farruinn: there is no performance boost
        10:08+granted
        10:08=Agrajag almost every program is bounded by I/O, not CPU time
        10:08=farruinn true
        10:09=Agrajag so all these ridiculous compiler flags you see gentooers using just cause instabilities and make compiles take longer
        10:09+vtg
        10:09=Agrajag but whatever
        10:09=topyli Agrajag: so you can decide what you like and always use the same "flags" for all packages where they apply?
        10:09=farruinn if it makes them happy =)
        10:09=Agrajag yes
        10:09+steff
        10:09=Agrajag Or you can choose them per-package, like if you want one media player to have MKV support but not another
        10:10=Agrajag it's actually pretty nice, but it's not worth it as far as I'm concerned
        10:10=topyli Agrajag: hmm. might be useful, but gentoo still seems a bit too laborious for me :)
        10:11=Agrajag admin work? hah, god help you if you're running gentoo on something other than a desktop
        10:12=Agrajag yeah I've heard that, we'll see in a couple months
        10:12=Agrajag it will
        10:12=Agrajag you could switch to hoary right now if you felt adventurous
        10:13=topyli i'll wait until gnome is stable
        10:13-granted
        10:13+vtg
        10:13+mvo_
        10:14=topyli then i'll have to see how hard it is to upgrade with all the backports and my own packages. i may have to uninstall most of the system first :)
        10:14+njan
        10:15=farruinn topyli: I think the report has generally been that you have to remove backports first
        10:15=topyli farruinn: yes
        10:15+telemaco
        10:16=topyli farruinn: i've been lazy and using a lot of backports. when i used woody i used to make packages from unstable sources.
        10:16=topyli don't know if it's any better for upgrades though :)
        10:17=Agrajag vim?
        10:17=Agrajag is that curses?
        10:17=Agrajag nano might do it if you're lazy
        10:17=Agrajag just make sure you alias nano to nano -w
        10:17+vtg
        10:17=Agrajag otherwise it'll destroy long lines in files
        10:17=farruinn vim is ncurses
        10:18=farruinn vim is awesome
        10:18=topyli does nano have syntax highllighting? methinks it doesn't
        10:18=Agrajag you really should learn vim, it's pretty much the standard text editor on any unix-like system
        10:18=Agrajag well, vim or vi
        10:18=Agrajag oh it doesn't?
        10:19=Agrajag never mind then, I never use it so I don't know
        10:19=topyli it's good for email but not for code
        10:19-the_g_cat
        10:19=dwa_ yes
        10:19=dwa_ press the letter "u"
        10:19=null_ escape keu then u
        10:19=farruinn bur[n] er: do vimtutor, it will get you going
        10:20=topyli bur[n] er: vim has everything, but every feature is a secret you'll have to discover :)
        10:20+quitte
        10:20+digmig
        10:21=dwa_ vi(m) is worth learning
        10:21+d3vic3
        10:21=dwa_ it's installed on virtually all linux, unix etc. machines
        10:21=topyli bur[n] er: you can't go wrong with emacs or vim. they will have every feature you can dream of (although vim is just an editor and emacs is an operating system)
        10:21+b_e_n_z
        10:21+vtg
        10:21+Zindar
        10:22=Agrajag and emacs even contains vim 8)
        10:22=Agrajag well not exactly, but viper-mode is pretty close
        10:22=topyli Agrajag: of course, the viper mode :)
        10:22=njan Agrajag, it's on the left of the can opener, isn't it? ;)
        10:22=topyli and you can always M-x psychoanalyze zippy :)
        10:23=Agrajag yeah, above the email client, under the psychiatrist, behind the IRC client
        10:23=shock now thats weird... running oversized and slow emacs withe the "great" functionality of vim *g*
        10:23=topyli EMACS: Eight Megabytes And Constantly Swapping
        10:23=cowbud time is 1 2 3
        10:24=topyli or Emacs Makes All Computers Slow :)
        10:25=Agrajag Escape Meta Alt Control Shift
        10:25=topyli awww
        10:26=farruinn heh, I like that last one
        10:26+vtg
        10:27=topyli it does seem a waste to run emacs for an editor only. if you use emacs, you might as well use it for everything. forget gnome! :)
        10:27=Agrajag I know a guy in sweden who does exactly that
        10:27=Agrajag runs ratpoison as a WM and has a few emacs windows open and nothing else
        10:28=topyli Agrajag: good for remote stuff too, runs in console and does everything
        10:28=Agrajag ERC for irc, some mpd client for music
        10:28=Agrajag yeah
        10:29=topyli mpd clients exist for everybody. at the very least you can use the http client
        10:29+vtg
        10:34+Adrenal
        10:34+Turominio
        10:34=Turominio Hi. I need help installing wxPython
        10:34+vtg
        10:34=Turominio It can't find gtk when I try installing from source
        10:35=Turominio People have said that it can be apt-get'ed, but there's no wxPython package in the repository
        10:35=Turominio Could someone help me?
        10:35=topyli Turominio: you probably don't have the gtk development packages
        10:35=Turominio No, I just apt-get'ed them. No difference
        10:36=topyli Turominio: there seems to be libwxgtk2.4-python. is that even close?
        10:36=Turominio lemme try
        10:37=nir how can I get python 2.4?
        10:37=nir compile myself? debian package?
        10:37=Turominio Package libwxgtk2.4-python is not available, but is referred to by another package.
        10:38=Turominio (response from apt-get)
        10:38=nir hmm, but its not python2.4
        10:38=topyli Turominio: weird. i wonder what repository gives me that package
        10:38+vtg
        10:39=nir Is it save to add debian to the source list?
        10:39=topyli nir: not really
        10:40=Turominio Yeah, I only have archive and security (.ubuntu.com) in the source list
        10:40=nir so the best would be to compile python?
        10:40=topyli Turominio: i even have the package installed, don't know why
        10:40=topyli nir: get hoary sources and build from there, it's easiest
        10:40=nir can I add hoary source to my sources list?
        10:41=nir I'm using warty
        10:41=topyli or Sid sources, doesn't matter
        10:41=Turominio what would be the addresses for those?
        10:41=topyli nir: add deb-src lines, not deb :)
        10:41=topyli Turominio: hoary sources?
        10:41=nir where I find these lines? :)
        10:41+newcomer
        10:42=Turominio or Sid. ANything that *might* have wxpython
        10:42=shock multiverse? is there an underverse, too? :P
        10:42+vtg
        10:42+cyrus-tc
        10:42+AlohaWolf
        10:43=topyli shock: i don't know what they can come up with next :)
        10:44=topyli multiverse i think is questionable stuff that you would get from marillat on debian
        10:44=shock oh ok
        10:44+stuff
        10:44=Agrajag no, multiverse is just nonfree
        10:44=shock i was referring in joke to "riddic chronicles of a warror" with underverse....
        10:44=shock *sigh*
        10:44=topyli Agrajag: ah
        10:44=shock =)
        10:44=Agrajag you still need marillat for those things
        10:44=Agrajag marillat stuff seems to work fine in ubuntu
        10:44+martink
        10:45=topyli Agrajag: just try to upgrade mplayer from marillat :(
        10:45=TreadingSoftl1 what does marillat mean?
        10:45=Agrajag hah, yeah
        10:45=Agrajag it's the guy who runs the repo's name
        10:45=topyli TreadingSoftl1: christian marillat's multimedia repository
        10:45=TreadingSoftl1 topyli: ah okay
        10:45=Turominio topyli: What would "universe" be? I notice that my sources were not configureed with that option.
        10:45=shock its mplayer and codecs n stuff
        10:45=tsw we all thank marillat for great repo
        10:46=shock universe is kde, i.e
        10:46=topyli Turominio: it's everything that's in debian but not in ubuntu
        10:46=Agrajag universe is nonsupported but free packages
        10:46=Agrajag multiverse is nonsupported and nonfree
        10:46=TreadingSoftl1 nonfree in what sense?
        10:47=topyli tsw: yes, he provides a great service for debian users. like the PLF for mandrake people
        10:47=Agrajag not free-as-in-speech
        10:47+vtg
        10:47=nir no python2.4 even with hoary
        10:47=topyli nir: try unstable
        10:48=tsw topyli: been using marillat almost as long as debian..
        10:48=Turominio w00t. It works. Just needed to uncomment the warty universe repositories.
        10:48=topyli topyli: i don't now any debian users who don't :)
        10:48+ciocanel
        10:49=nir what shuld I set in synpatic settings: expert
        10:49=shock actually its the first tihng i manually add to all deb sources when i install for anyone
        10:49=shock *g*
        10:49=topyli Turominio: yeah, they only enable the stuff they support by default
        10:49=Turominio Another question: Am learning Python, looking for an IDE. I've found SPE, which is why I need wxPython. Has anyone tried it, or other Python IDE's?
        10:49=nir default archive: ignore|now|wary|warty-security?
        10:49+Treekill
        10:49+[PervertedMonk]
        10:50=nir I recommend emacs for python
        10:50+hazza96
        10:50=topyli nir: warty-security i guess
        10:50=nir its great for editing python sources
        10:50=Turominio Ubuntu emacs doesn't seem to be getting the syntax highlighting going
        10:50=Treekill hey all
        10:50=Treekill its cold here in florida
        10:50=hazza96 why can't I download the bittorrent of the Hoary Live CD?
        10:51=nir ecams on ubuntu suck, vs emacs on mac os x
        10:51=topyli Treekill: so you say. it's not exactly summertime in finland either :)
        10:51=Treekill lol
        10:51=tsw -15 in jyvaskyla finland
        10:51=nir the antialiasing is not good, and the scroll wheel does not work
        10:51+Hannes__
        10:51=Turominio nir: ok, so how do I go about fixing emacs?
        10:51+vtg
        10:51=Agrajag you need something in your emacs config file, (global-font-lock-mode t) I think
        10:51=nir I don't know
        10:52=nir I only used it for few minues on ubuntu, but few years on os x
        10:52-Treekill
        10:52=topyli Treekill: hell, you made me look! it's -13 centigrade
        10:52=Agrajag try it now, do m-x global-font-lock-mode t
        10:52=Agrajag see if that does it
        10:52=Turominio and, how do I get it to do Python syntax highlighting (and why doesn't it come with it, given the Python-centricity of Ubuntu?)
        10:52-hazza96
        10:53=nir you need python-mode.el
        10:53=nir I heard that vim has also great python support
        10:53=topyli Turominio: or perhaps you haven't set up emacs to check the file type before loading, so that everything opens in fundamental-mode
        10:53=nir if you can get use to it
        10:53=Turominio I think I got that yesterday. Where do I put it?
        10:54=nir Turominio, try to look for info in the emacswiki
        10:54=topyli [PervertedMonk] : don't ask to ask, just ask
        10:54=scizzo [PervertedMonk] : maybe if you asked what the problem is? :)
        10:55=topyli yes
        10:55=scizzo yes it is
        10:55=topyli Just Works (TM)
        10:55+vtg
        10:56=Agrajag mandrake is buggy as hell
        10:56=Agrajag at least it was when I quit using it, 9.2 or so
        10:56=topyli [PervertedMonk] : mandrake is nice too, but if you get into trouble, it's more difficult to fix
        10:56=scizzo mandrake? why would anyone ever consider using that? :P
        10:56=topyli scizzo: i "considered" for years :)
        10:56=Agrajag all of them?
        10:57=tsw why would someone even think about using anything else than a debian deritive
        10:57=scizzo [PervertedMonk] : why not just try it and find out if you like it or not?
        10:57=Agrajag well, it installs gnome by default, but you can get pretty much everything from the universe and multiverse repositories
        10:57=tsw yep
        10:57=Agrajag [PervertedMonk] : either download it from ubuntulinux.org or see if you can get a CD shipped from there
        10:57=Tomcat_ Can anybody tell me what's up with the torrent of hoary live?
        10:57=topyli [PervertedMonk] : basically, ubuntu gives you a nice gnome workstation, and you can get the rest of the world's free software over the net
        10:57=Agrajag I don't know if they're still shipping them out though
        10:57+Hannes__
        10:58=scizzo [PervertedMonk] : I would think that you should really go to that site and read a little of what is written there
        10:58+TiffOn
        10:58=nir hmm, I found a repeating bug with synpatic
        10:58=scizzo [PervertedMonk] : I tried over 5 or 6 distros before using ubuntu
        10:59=nir as soon as I set preferences:expert:default archive
        10:59=nir my pakcakage list is empty
        10:59=nir until I delete ~root/.synpatic
        10:59=Turominio I will say, though, after using Ubuntu for 3 days now: It requires a lot of extra stuff to become a developing environment
        11:00=nir can anyone try this?
        11:00=Agrajag a lot?
        11:00=scizzo [PervertedMonk] : yes
        11:00+vtg
        11:00=Turominio But, it is very slick, and probably one of the most user-friendly distro's around
        11:00=nir open synpatic
        11:00=scizzo [PervertedMonk] : get the iso
        11:00=nir go to pref
        11:01=scizzo torrents are nice...but I don't know how they work just yet
        11:01=topyli newbies are cool :)
        11:02=scizzo so?
        11:02=scizzo I am old fashion
        11:02=TreadingSoftl1 anybody know what the name of the gnome font viewing app is, because my gnome can't find it?
        11:02+vtg
        11:02+steff
        11:05=Ng TreadingSoftl1: gnome-font-viewer? ;)
        11:05+twids
        11:08=nir hmm, nice, after I wasted hours on compling my own smp kernel, now I see that I could get it from warty-security
        11:08+vtg
        11:08=nir with universe
        11:08-topyli
        11:09=Ng nir: there ought to be smp kernels in main I believe
        11:09=nir at least I learned a lot while making my own kernel
        11:09=MM2 nir: we say in Finland: stupid head hurts whole body... :)
        11:09=nir not for ppc
        11:09=Ng ag
        11:09=Ng I mean "ah" ;)
        11:10=nir ag is also ok :)
        11:10=MM2 [PervertedMonk] : no, it's Nigerian ;)
        11:10+Sav
        11:10=Ng it's not either, although the guy funding it is south african
        11:10=nir this sources list should be simpler
        11:11+zeedo
        11:11=Ng it's made from only the finest natural debian ;)
        11:11+EvolutionR
        11:11=twids Hi, just a quick printing question, when the printer is detected (by hotplug?) should cups be restarted? It doesn't seem to detect it otherwise.
        11:11=nir like a check box in synpatic [ ]  Include unstable pakcages
        11:12=shock twids - check /var/log/syslog
        11:12=Lathiat twids: you need to set it up in the printer manager
        11:12=nir With a hellp line
        11:12=Lathiat twids: administration->printing
        11:12=nir "If you don't find what you are looking for, try to enabble, note that ...etc"
        11:12+vtg
        11:15+hikaru79
        11:15=twids But it does show up if I restart cups
        11:15+carlos
        11:16=Sav i cant leave my laptop running during the night. It freezes and the fans goes crazy after like 3-4 hours idle. Any ideas?
        11:16+^^benz^^
        11:16+vtg
        11:16-b_e_n_z
        11:16+quazion__
        11:16+b_e_n_z
        11:20=EvolutionR how to upgrade warthy to hoary?
        11:21=shock add hoary to sources.list
        11:21=shock apt-get update
        11:21=shock apt-get dist-upgrade
        11:21=shock pray
        11:21+vtg
        11:22=EvolutionR shock: how to add hoary to sources.list?
        11:23=shock u got the warty sources in there, right?
        11:23=EvolutionR shock: yes
        11:23=EvolutionR default
        11:23=shock just edit /etc/apt/sources.list and replace warty with hoary
        11:23=shock :)
        11:23+Emanuelez
        11:24=Emanuelez hello * :)
        11:24+vtg
        11:25=Sav whats better with horay?
        11:26=EvolutionR deb cdrom:[Ubuntu 4.10 _Warty Warthog_ - Preview i386 Binary-1 (20041020)] / unstable main restricted
        11:26+shock
        11:26+julien_
        11:27=julien_ hi
        11:27=julien_ Is anyone running today's Hoary ?
        11:27=julien_ I noticed that gamin seems to be totally borked today. Am I the only one to see it ?
        11:27=shock yes
        11:27=shock gamin?
        11:27=shock hm
        11:27+FireEgl
        11:27=shock i noticed evolution being totally *******ed
        11:27+bradb
        11:27+nir
        11:27+LnxGnome
        11:28=nir what is the place to compile python? /usr/local/src?
        11:28=LnxGnome scsi anyone?
        11:29=julien_ shock: Please try to put a file in your trashcan, and tell me if the file disappears from Nautilus.
        11:29+bj_
        11:29=shock yes
        11:29+evil-dna
        11:29=shock it usually does
        11:29+housetier
        11:29=shock unless i somehow killed or mangled the famd
        """#
}
